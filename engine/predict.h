/* SPDX-License-Identifier: Apache-2.0 */

/* How long a training takes on a machine that is only described, operator by
 * operator.
 *
 * A call takes the time that its arithmetic takes, or the time that its bytes
 * take, whichever is longer, the one hidden behind the other as far as the
 * level of software hides it, and a little for being started:
 *
 *   t = (a^p + m^p)^(1/p) + launch
 *   a = flops q / (rate f e),   m = bytes b / (bandwidth e')
 *
 * with e, e', b, p of the level of software (QmConstant), q of a product how
 * much longer its last wave of tiles makes it, in which some multiprocessors
 * have nothing left to do, and f the clock that the limit of power leaves, as a
 * share of the rated one.  What is drawn is
 *
 *   watts (f) = base + (sum of flops j f^g + sum of bytes j') / time (f)
 *
 * and f is the highest clock at which that is no more than the board may draw.
 * Heavy products run there, not at their rated clock: an H200 trains at 1.45 to
 * 1.6 GHz of 1.98.  A pass is the sum of its calls, or the time that the host
 * takes to start them all, if that is longer.
 * A product takes no less than a multiprocessor needs to start its loads and
 * stores, which are many where rows do not begin at multiples of 16 bytes.
 *
 * While states are in the memory of the host, a pass is that, g, and what moves
 * beside it, o, the longest of three rows of work that go on at the same time:
 * gradients down, weights up, and the host adding up what came down.
 *
 *   pass = max (g, o) + (1 - hidden) min (g, o)
 *
 * Of several GPUs each pass is as long as that of the slowest: longer than the
 * mean by the largest of n draws from a normal distribution (QmSpeeds.slower).
 *
 * The update is the host's: its Adam, or moving gradients down (ZeRO 1) or
 * weights up, whichever takes longest. */

#ifndef QM_ENGINE_PREDICT_H
#define QM_ENGINE_PREDICT_H

#include "data/catalog.h"
#include "data/network.h"
#include "data/probes.h"
#include "engine/work.h"

/* What is fitted to measurements, of a level of software each. */
typedef enum QmConstant
{
  /* Shares of the rated rate that products reach at the rated clock, where
   * nothing else is in their way, by QmArithmetic; of unfused attention; of
   * fused attention forward and backward, which computes a quarter more than
   * counts. */
  QM_CONSTANT_PRODUCT_16,
  QM_CONSTANT_PRODUCT_TF32,
  QM_CONSTANT_PRODUCT_FP32,
  QM_CONSTANT_MATMUL,
  QM_CONSTANT_ATTENTION,
  QM_CONSTANT_ATTENTION_BACKWARD,
  QM_CONSTANT_ATTENTION_HOPPER, /* what of that share is left on Hopper and the
                                   data centre's Blackwell, whose products take
                                   instructions of their own */
  QM_CONSTANT_ATTENTION_MASKED, /* and of that where kernels are given a mask
                                   (qm_model_has_mask()); 0: none are */
  QM_CONSTANT_ATTENTION_TF32, /* and of the share forward and backward in TF32,
                                 where what a row takes besides its products
                                 takes as long as in 16 bits; 0: as these */
  QM_CONSTANT_ATTENTION_DROPOUT, /* how much longer fused attention takes that
                                    drops; 0: no longer */
  QM_CONSTANT_EXPERTS,   /* how much longer products of experts take, and
                            how much more what brings rows to them and
                            back moves, than in 16 bits; 0: they are */
  QM_CONSTANT_LOADS,     /* share of the loads and stores of a clock that
                            products reach; those of matrices whose rows do not
                            begin at multiples of 16 bytes need many */
  QM_CONSTANT_UNALIGNED, /* how much longer such a product with weights takes
                            on tensor cores where software pads it; 0: none
                            does, and its loads bind it */
  QM_CONSTANT_INNER,     /* a product with that `inner` takes twice its time */
  QM_CONSTANT_HEAD,      /* attention with heads of that size, too */
  QM_CONSTANT_SEQUENCE,  /* and over a sequence of that length */
  QM_CONSTANT_SEQUENCE_UNMASKED, /* likewise on Hopper, where kernels may be
                                    given masks and are not; 0: the same */
  QM_CONSTANT_BANDWIDTH,         /* share of the rated one */
  QM_CONSTANT_SATURATION, /* s that kernels need for a byte, however fast the
                             memory is */
  QM_CONSTANT_SHARPNESS,  /* p; 1: nothing is hidden */
  QM_CONSTANT_LAUNCH,     /* s for a call */
  QM_CONSTANT_DISPATCH,   /* s of the host for a call */
  QM_CONSTANT_CAST,       /* bytes a parameter that a pass moves besides */
  /* What an operator moves, as a multiple of what it would have to. */
  QM_CONSTANT_NORM, /* norms forward; 0: as all else */
  QM_CONSTANT_NORM_BACKWARD,
  QM_CONSTANT_RMS_NORM, /* forward and backward, where norms over squares have
                           no kernel of their own; 1: they have */
  QM_CONSTANT_GATE,     /* of gated activations, likewise */
  QM_CONSTANT_GELU_NEW, /* of activations that are made of simple operators, in
                           16 bits; in fp32 half; 0: they have a kernel */
  QM_CONSTANT_SOFTMAX,
  QM_CONSTANT_CROSS_ENTROPY,
  QM_CONSTANT_ROTARY,       /* of what turns */
  QM_CONSTANT_ROTARY_WHOLE, /* of the whole of a head besides, where a part of
                               it turns: cut off and joined again */
  QM_CONSTANT_CONVOLUTION,
  QM_CONSTANT_CONVOLUTION_BACKWARD,
  /* And as many times more in fp32, forward and backward. */
  QM_CONSTANT_CONVOLUTION_FP32,
  QM_CONSTANT_CONVOLUTION_BACKWARD_FP32,
  QM_CONSTANT_SCAN,
  QM_CONSTANT_SCAN_BACKWARD,
  /* Exponentials, or what takes as long as so many, for a state that a scan
   * updates; 0: only what it moves is known to bind it. */
  QM_CONSTANT_EXPONENTIALS,
  QM_CONSTANT_EXPONENTIALS_BACKWARD,
  /* Shares of the rated rate that products of Mamba-2's chunks reach. */
  QM_CONSTANT_DUAL_SCAN,
  QM_CONSTANT_DUAL_SCAN_BACKWARD,
  QM_CONSTANT_UPDATE,
  QM_CONSTANT_OTHER,
  /* Of offloading: how much longer than ours the host takes for an update with
   * all that it waits for, and the share of the shorter of a pass and of what
   * moves beside it that the longer one hides. */
  QM_CONSTANT_HOST_UPDATE,
  QM_CONSTANT_COPIES_HIDDEN,
  /* Not of the model: nine of ten rates that a fit did not know are predicted
   * within a factor of exp (spread); on boards, and on cards, which differ by
   * who makes and cools them and what they are put into. */
  QM_CONSTANT_SPREAD,
  QM_CONSTANT_SPREAD_CARDS,
  /* Standard deviations of what errors of rates of one model have in common
   * (engine/residual.h): all of them, those on one generation of GPUs, on one
   * type, on several of one type; of what each has for itself; and of what
   * other settings than a place's fastest add to that. */
  QM_CONSTANT_RESIDUAL_MODEL,
  QM_CONSTANT_RESIDUAL_GENERATION,
  QM_CONSTANT_RESIDUAL_TYPE,
  QM_CONSTANT_RESIDUAL_SEVERAL,
  QM_CONSTANT_RESIDUAL_RATE,
  QM_CONSTANT_RESIDUAL_SETTINGS,
  QM_N_CONSTANTS
} QmConstant;

/* As files have it: "product-16"; static. */
const char *qm_constant_name (QmConstant constant);

/* Which of both spreads is that of a GPU. */
QmConstant qm_constant_spread (const QmGpu *gpu);

/* Software that trains, as engine, tuned, eager and naive. */
typedef struct QmLevel
{
  char name[32];
  bool own; /* its kernels are those that machines are measured with */
  double constants[QM_N_CONSTANTS];
} QmLevel;

/* How a board draws power.  Joules for an operation and the highest clock are a
 * generation's, all others are one for all. */
typedef struct QmPower
{
  double joules_per_flop; /* of products of 16 bits, at the rated clock */
  double tf32, fp32;      /* the same of those, as multiples of it */
  double joules_per_byte; /* of the board's memory */
  double inner;    /* a product with that `inner` draws twice as much for each
                      of its operations */
  double exponent; /* g */
  double base;     /* share of what the board may draw, before any work */
  double clock;    /* the highest clock, as a share of the rated one */
} QmPower;

/* What a host takes that works on states in its memory, of one machine: several
 * GPUs share it, each has its own lanes. */
typedef struct QmHostSpeeds
{
  double copies; /* bytes/s of a GPU, down and up each; of a calibration, as a
                    share of what its lanes of PCIe carry; 0: not known */
  double add;    /* s for a gradient of a pass that is added up */
  double adam;   /* s for a parameter of an update of ours */
} QmHostSpeeds;

/* How several GPUs exchange. */
typedef enum QmWay
{
  QM_WAY_NVLINK,
  QM_WAY_PCIE, /* from GPU to GPU */
  QM_WAY_HOST  /* through PCIe and the host's memory */
} QmWay;

/* "nvlink", "pcie", "host"; static. */
const char *qm_way_name (QmWay way);

/* A machine, as far as time depends on it. */
typedef struct QmSpeeds
{
  double rates[QM_N_ARITHMETICS]; /* FLOP/s at the rated clock */
  double bandwidth;               /* bytes/s of the GPU's memory */
  double multiprocessors;         /* NaN: not known */
  double exponentials;            /* a second, at the rated clock */
  double half_rate;  /* how much more of their rate products reach here than
                        others do, as QmCalibration has it */
  QmConstant spread; /* which is its interval's */
  int architecture;  /* compute capability; 0: not known */
  double watts;      /* that the board may draw; NaN: any */
  QmPower power;
  QmHostSpeeds host;
  int gpus;        /* of all machines */
  int machines;    /* 0 or 1: there are no others */
  QmWay way;       /* between several of one machine */
  double exchange; /* bytes/s that each GPU sends while all reduce together */
  double latency;  /* s of a collective */
  double
      thinned;   /* rate of exchange, as a share of that of one machine alone */
  double hidden; /* share of a pass during which exchanges go on unnoticed */
  double differ; /* how far GPUs of a type are apart, as QmCalibration has it */
  double slower; /* by which share of a pass the slowest of all is expected to
                    be behind the mean of its type; 0 of one */
  double attention, attention_backward; /* of our kernels here, as a multiple of
                                           what the level says; 1: not measured
                                           */
  const QmProbes *measured; /* that it comes from, instead of the catalog */
  const QmLinkTimes *links; /* what exchanges between all took; NULL */
  bool sharded; /* weights and states are divided over the GPUs, since they
                   do not fit on each */
} QmSpeeds;

/* What a prediction rests on: levels, and the power of generations. */
typedef struct QmCalibration
{
  QmLevel levels[8];
  size_t n_levels;
  struct
  {
    int architecture;
    double joules_per_flop;
    double clock;
  } generations[16];
  size_t n_generations;
  QmPower power; /* without joules_per_flop and clock */
  /* Shares of a link's rate in one direction that collectives reach, of PCIe
   * between GPUs that read each other's memory, and through that of the host;
   * seconds that one takes at least, and the share of one that a backward pass
   * hides. */
  double nvlink, pcie, pcie_host, latency, hidden;
  /* Standard deviation of the time that GPUs of one type take for the same
   * pass, as a share of it.  What several do in a step ends with the slowest of
   * them. */
  double differ;
  QmHostSpeeds host;
  /* How much more of the rated rate products reach on GPUs whose tensor cores
   * add up in fp32 at half their speed (GeForce), so that what brings them
   * their factors has twice the time. */
  double half_rate;
  /* Machines that were measured; see qm_calibration_add_probes(). */
  const QmProbes *reference;
  const QmGpu *reference_gpu;
  const QmProbes *measured[32];
  size_t n_measured;
} QmCalibration;

/* The GPU that the levels were measured on most: what its probes found stands
 * for what the catalog says of it, whatever others find is a multiple of. */
#define QM_REFERENCE_GPU "h200-141gb-sxm"

/* Reads a calibration.csv. */
QmStatus qm_calibration_load (const char *path,
                              QmCalibration *calibration,
                              QmError *error);

/* The level of that name, or NULL. */
const QmLevel *qm_calibration_level (const QmCalibration *calibration,
                                     const char *name);

/* QmPlanOptions.loss_rows of software of a level: PyTorch has all logits in
 * memory, in Transformers' models at least.  Of other engines in CUDA it is not
 * known of each; the rates that they were fitted to are planned with all. */
int64_t qm_level_loss_rows (const char *level);

/* Says what the reference's probes found, and what it is in the catalog; both
 * outlive the calibration. */
void qm_calibration_set_reference (QmCalibration *calibration,
                                   const QmProbes *reference,
                                   const QmGpu *gpu);

/* From now on what these probes found takes the place of what the catalog says
 * of their GPU, as far as they tell it; the last ones of a GPU count.  They
 * outlive the calibration.  False where there is a reference, but no room. */
bool qm_calibration_add_probes (QmCalibration *calibration,
                                const QmProbes *probes);

/* How a machine exchanges what its GPUs have computed. */
typedef enum QmInterconnect
{
  QM_INTERCONNECT_OF_GPU, /* as it is sold: NVLink of GPUs on boards, PCIe of
                             cards, which are bridged by who buys a bridge */
  QM_INTERCONNECT_NVLINK, /* of cards, too, where it connects so many */
  QM_INTERCONNECT_PCIE
} QmInterconnect;

/* What a GPU of the catalog, or several of them, can do, as measured where it
 * was.  QM_STATUS_UNSUPPORTED where the catalog does not say its rates or
 * bandwidth. */
QmStatus qm_speeds_of_gpu (const QmCalibration *calibration,
                           const QmGpu *gpu,
                           int gpus,
                           QmInterconnect link,
                           QmSpeeds *speeds,
                           QmError *error);

/* Makes of one machine's speeds those of several like it, each with so many
 * adapters to a network.  Rings go through all GPUs, from one machine to the
 * next by all adapters together (NCCL's do), so each GPU sends no faster than
 * the slower of both, and a collective takes a step from machine to machine
 * 2 (n - 1) times.  Switches are taken to be no bottleneck; what a network
 * really reaches is no more than that.  Called once. */
void qm_speeds_join (QmSpeeds *speeds,
                     int machines,
                     const QmNetwork *network,
                     int adapters);

/* What is between several machines whose exchanges were measured, as one
 * adapter of each: as fast as the largest sum of all was. */
QmNetwork qm_network_of_links (const QmLinkTimes *links);

/* What bounds a training. */
typedef enum QmBound
{
  QM_BOUND_ARITHMETIC,
  QM_BOUND_POWER,
  QM_BOUND_BANDWIDTH,
  QM_BOUND_EXCHANGE,
  QM_BOUND_HOST
} QmBound;

/* "arithmetic", "power", "bandwidth", "exchange", "host"; static. */
const char *qm_bound_name (QmBound bound);

/* Seconds. */
typedef struct QmPrediction
{
  double pass; /* forward and backward of one micro-batch */
  double update;
  double alone, update_alone; /* the same without what moves to and from the
                                 host, and of all states */
  double exchange;            /* of a step, that nothing hides */
  double step;
  double days, days_low, days_high; /* nine of ten are between */
  double clock;                     /* f of a pass */
  double watts;                     /* of a pass and GPU */
  double by_op[QM_OP_COUNT];        /* of a pass */
  QmBound bound, bound_alone;
} QmPrediction;

/* Predicts a step in which each of the machine's GPUs does `work`, which is
 * that of its share of the batch, and all of them add up their gradients at its
 * end.  Of what is offloaded each has its part.  QM_STATUS_UNSUPPORTED where
 * something is, and the lanes to the host are not known. */
QmStatus qm_predict (const QmWork *work,
                     const QmSpeeds *speeds,
                     const QmLevel *level,
                     QmPrediction *prediction,
                     QmError *error);

/* The same in two: first what does not depend on how many GPUs there are, or on
 * how many passes a step has, which takes nearly all of the time; from that as
 * often as wanted the rest, which begins with pass and ends with bound. */
QmStatus qm_predict_alone (const QmWork *work,
                           const QmSpeeds *speeds,
                           const QmLevel *level,
                           QmPrediction *prediction,
                           QmError *error);
QmStatus qm_predict_step (const QmWork *work,
                          const QmSpeeds *speeds,
                          const QmLevel *level,
                          QmPrediction *prediction,
                          QmError *error);

/* Seconds that one call of each row takes of the GPU alone, at the clock of its
 * part, and 0 of what another call does there: `seconds` has room for all rows.
 */
QmStatus qm_predict_rows (const QmWork *work,
                          const QmSpeeds *speeds,
                          const QmLevel *level,
                          double *seconds,
                          QmError *error);

#endif
