/* SPDX-License-Identifier: Apache-2.0 */

/* Every way in which a user's file can be wrong: it is refused whole, with the
 * place and the reason, and everything else still loads. */

#include "data/catalog.h"
#include "data/text.h"
#include "tests/data/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GPUS   "id,name,memory_gib,fp16_tflops,source\n"
#define GPU    "x1,X One,24,71,test\n"
#define PRICES "item,kind,price,currency,source\n"
#define RANGES \
  "item,kind,unit,gpus,price,low,high,currency,observed_on,source\n"
#define MACHINES "machine,name,kind,gpus,part,detail,price,currency,source\n"
#define PLATFORMS                                                \
  "id,name,form,gpus,sold_with,takes,psus,psu_spare,memory_gib," \
  "memory_max_gib,unverified,source\n"
#define TIMES                                                              \
  "model,gpu,gpus,settings,feasibility,days,days_low,days_high,"           \
  "rounding_days,sharding,offloading,accumulation,provenance,measured_on," \
  "source\n"

typedef struct Broken
{
  const char *name;
  const char *file;
  const char *text;
  int line, column;
  QmStatus status;
  const char *message;
} Broken;

static const Broken broken[] = {
  /* What is no table. */
  { "empty file", "gpus.csv", "", 1, 1, QM_STATUS_PARSE, "is empty" },
  { "blank file", "gpus.csv", " \n\n\r\n", 1, 1, QM_STATUS_PARSE, "is empty" },
  { "open quote", "gpus.csv", GPUS "x1,\"X One,24,71,test\n", 2, 4,
    QM_STATUS_PARSE, "never closed" },
  { "open quote in header", "gpus.csv", "id,\"name", 1, 4, QM_STATUS_PARSE,
    "never closed" },
  { "quote inside", "gpus.csv", GPUS "x1,X \"One\",24,71,test\n", 2, 6,
    QM_STATUS_PARSE, "must be doubled" },
  { "text after quote", "gpus.csv", GPUS "x1,\"X\" One,24,71,test\n", 2, 8,
    QM_STATUS_PARSE, "after a closing quote" },
  { "invalid UTF-8", "gpus.csv", GPUS "x1,X \xc3(,24,71,test\n", 2, 6,
    QM_STATUS_PARSE, "is not UTF-8 text: byte 0xc3" },
  { "overlong UTF-8", "gpus.csv", GPUS "\xc0\xaf,X,24,71,test\n", 2, 1,
    QM_STATUS_PARSE, "is not UTF-8" },
  { "surrogate", "gpus.csv", GPUS "x1,\xed\xa0\x80,24,71,test\n", 2, 4,
    QM_STATUS_PARSE, "is not UTF-8" },
  { "beyond Unicode", "gpus.csv", GPUS "x1,\xf4\x90\x80\x80,24,71,t\n", 2, 4,
    QM_STATUS_PARSE, "is not UTF-8" },
  { "broken sequence", "gpus.csv", GPUS "x1,\xf0\x9f\x98x,24,71,t\n", 2, 4,
    QM_STATUS_PARSE, "is not UTF-8" },
  { "cut sequence", "gpus.csv", GPUS "x1,\xe2\x82", 2, 4, QM_STATUS_PARSE,
    "is not UTF-8" },
  { "control character", "gpus.csv", GPUS "x1,\x1b[31m,24,71,test\n", 2, 4,
    QM_STATUS_PARSE, "control character 0x1b" },
  { "UTF-16", "gpus.csv", "\xff\xfei", 1, 1, QM_STATUS_PARSE, "is not UTF-8" },

  /* The header. */
  { "missing column", "gpus.csv", "id,name,memory_gib,source\nx1,X,24,t\n", 1,
    1, QM_STATUS_INVALID, "column 'fp16_tflops' is missing" },
  { "unknown column", "gpus.csv", "id,name,memory_gib,fp16_tflop,source\n", 1,
    20, QM_STATUS_INVALID,
    "unknown column 'fp16_tflop'; did you mean 'fp16_tflops'?" },
  { "foreign column", "gpus.csv", "id,name,colour\n", 1, 9, QM_STATUS_INVALID,
    "unknown column 'colour'" },
  { "duplicate column", "gpus.csv", "id,name,id,fp16_tflops,source\n", 1, 9,
    QM_STATUS_INVALID, "column 'id' is there twice" },
  { "empty column", "gpus.csv", "id,,name\n", 1, 4, QM_STATUS_INVALID,
    "unknown column ''" },
  { "semicolons", "gpus.csv", "id;name;memory_gib\n", 1, 1, QM_STATUS_INVALID,
    "unknown column 'id;name;memory_gib'" },
  { "very many columns", "gpus.csv",
    ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n", 1, 33, QM_STATUS_PARSE,
    "more than 32 columns" },

  /* Rows. */
  { "too few cells", "gpus.csv", GPUS GPU "x2,X Two,24\n", 3, 1,
    QM_STATUS_PARSE, "the row has 3 cells, the header 5" },
  { "too many cells", "gpus.csv", GPUS "x1,X One,24,71,test,more\n", 2, 21,
    QM_STATUS_PARSE, "more cells than the header's 5" },
  { "duplicate key", "gpus.csv", GPUS GPU GPU, 3, 1, QM_STATUS_INVALID,
    "id: the file has this entry twice" },
  { "line after quoted break", "gpus.csv",
    GPUS "x1,X,24,71,\"a\nb\"\nx2,X,24,y,t\n", 2, 12, QM_STATUS_INVALID,
    "source: must be a single line" },
  { "CRLF", "gpus.csv",
    "id,name,memory_gib,fp16_tflops,source\r\nx1,X,24,71,t\r\nx2,X,q,71,t\r\n",
    3, 6, QM_STATUS_INVALID, "memory_gib: 'q' is not a number" },
  { "CR", "gpus.csv", "id,name,memory_gib,fp16_tflops,source\rx1,X,q,71,t\r", 2,
    6, QM_STATUS_INVALID, "memory_gib: 'q' is not a number" },
  { "byte order mark", "gpus.csv", "\xef\xbb\xbf" GPUS "x1,X,q,71,t\n", 2, 6,
    QM_STATUS_INVALID, "memory_gib: 'q' is not a number" },
  { "blanks before a cell", "gpus.csv", GPUS "x1,X,   q,71,t\n", 2, 9,
    QM_STATUS_INVALID, "memory_gib: 'q' is not a number" },
  { "no last line end", "gpus.csv", GPUS "x1,X,24,71,", 2, 12,
    QM_STATUS_INVALID, "source: must not be empty" },

  /* Names and numbers. */
  { "no id", "gpus.csv", GPUS ",X,24,71,t\n", 2, 1, QM_STATUS_INVALID,
    "id: must not be empty" },
  { "id with capitals", "gpus.csv", GPUS "RTX,X,24,71,t\n", 2, 1,
    QM_STATUS_INVALID, "id: 'RTX' may only have a-z, 0-9, '.' and '-'" },
  { "id with slash", "gpus.csv", GPUS "../x,X,24,71,t\n", 2, 1,
    QM_STATUS_INVALID, "may only have" },
  { "long id", "gpus.csv",
    GPUS "x123456789x123456789x123456789x123456789x123456789x123456789x1234,X,"
         "24,71,t\n",
    2, 1, QM_STATUS_INVALID, "is longer than 64 characters" },
  { "id of a machine", "gpus.csv", GPUS "server-4gpu,X,24,71,t\n", 2, 1,
    QM_STATUS_INVALID, "is the name of a machine" },
  { "decimal comma", "gpus.csv", GPUS "x1,X,\"24,5\",71,t\n", 2, 6,
    QM_STATUS_INVALID, "memory_gib: '24,5' is not a number" },
  { "negative", "gpus.csv", GPUS "x1,X,-24,71,t\n", 2, 6, QM_STATUS_INVALID,
    "memory_gib: '-24' is not between" },
  { "zero", "gpus.csv", GPUS "x1,X,24,0,t\n", 2, 9, QM_STATUS_INVALID,
    "fp16_tflops: '0' is not between" },
  { "zero of what it lacks", "gpus.csv",
    "id,name,memory_gib,fp16_tflops,source,fp8_tflops\nx1,X,24,71,t,0\n", 2, 14,
    QM_STATUS_INVALID, "fp8_tflops: '0' is not between" },
  { "infinite", "gpus.csv", GPUS "x1,X,inf,71,t\n", 2, 6, QM_STATUS_INVALID,
    "'inf' is not a number" },
  { "not a number", "gpus.csv", GPUS "x1,X,nan,71,t\n", 2, 6, QM_STATUS_INVALID,
    "'nan' is not a number" },
  { "hexadecimal", "gpus.csv", GPUS "x1,X,0x18,71,t\n", 2, 6, QM_STATUS_INVALID,
    "'0x18' is not a number" },
  { "too large", "gpus.csv", GPUS "x1,X,1e999,71,t\n", 2, 6, QM_STATUS_INVALID,
    "'1e999' is not a number" },
  { "absurd", "gpus.csv", GPUS "x1,X,1e12,71,t\n", 2, 6, QM_STATUS_INVALID,
    "'1e12' is not between" },
  { "unknown unverified", "gpus.csv",
    "id,name,memory_gib,fp16_tflops,source,unverified\n"
    "x1,X,24,71,t,memory_gib;speed\n",
    2, 14, QM_STATUS_INVALID, "unverified: 'speed' is not a column" },
  { "neither yes nor no", "gpus.csv",
    "id,name,memory_gib,fp16_tflops,source,bf16\nx1,X,24,71,t,maybe\n", 2, 14,
    QM_STATUS_INVALID, "bf16: 'maybe' is not 'no' or 'yes'" },
  { "bad release date", "gpus.csv",
    "id,name,memory_gib,fp16_tflops,source,released_on\n"
    "x1,X,24,71,t,2024-02-30\n",
    2, 14, QM_STATUS_INVALID, "'2024-02-30' is not a date" },

  /* Machines. */
  { "part before machine", "machines.csv",
    MACHINES "m1,,,,CPU,Fast,99,USD,\nm1,M,server,4,,,,,t\n", 2, 1,
    QM_STATUS_INVALID, "'m1' has no row of its own above" },
  { "part of a shipped machine", "machines.csv",
    MACHINES "server-4gpu,,,,CPU,Fast,99,USD,\n", 2, 1, QM_STATUS_INVALID,
    "has no row of its own above" },
  { "part with a kind", "machines.csv",
    MACHINES "m1,M,server,4,,,,,t\nm1,,server,,CPU,Fast,99,USD,\n", 3, 5,
    QM_STATUS_INVALID, "kind: belongs into the machine's own row" },
  { "machine with a detail", "machines.csv", MACHINES "m1,M,server,4,,x,,,t\n",
    2, 16, QM_STATUS_INVALID, "detail: only a part has" },
  { "unknown kind", "machines.csv", MACHINES "m1,M,laptop,4,,,,,t\n", 2, 6,
    QM_STATUS_INVALID, "kind: 'laptop' is not 'desktop' or 'server'" },
  { "no kind", "machines.csv", MACHINES "m1,M,,4,,,,,t\n", 2, 6,
    QM_STATUS_INVALID, "kind: must be 'desktop' or 'server'" },
  { "no GPUs", "machines.csv", MACHINES "m1,M,server,0,,,,,t\n", 2, 13,
    QM_STATUS_INVALID, "gpus: '0' is not between 1 and 1024" },
  { "no count", "machines.csv", MACHINES "m1,M,server,,,,,,t\n", 2, 13,
    QM_STATUS_INVALID, "gpus: must not be empty" },
  { "half a GPU", "machines.csv", MACHINES "m1,M,server,0.5,,,,,t\n", 2, 13,
    QM_STATUS_INVALID, "gpus: '0.5' is not a whole number" },
  { "machine twice", "machines.csv",
    MACHINES "m1,M,server,4,,,,,t\nm1,M,server,8,,,,,t\n", 3, 1,
    QM_STATUS_INVALID, "machine: the file has this entry twice" },
  { "part twice", "machines.csv",
    MACHINES "m1,M,server,4,,,,,t\nm1,,,,CPU,Fast,,,\nm1,,,,CPU,Fast,,,\n", 4,
    7, QM_STATUS_INVALID, "part: the file has this entry twice" },
  { "price without currency", "machines.csv",
    MACHINES "m1,M,server,4,,,99,,t\n", 2, 20, QM_STATUS_INVALID,
    "currency: must not be empty" },
  { "id of a GPU", "machines.csv", MACHINES "a6000,M,server,4,,,,,t\n", 2, 1,
    QM_STATUS_INVALID, "'a6000' is the name of a GPU" },

  /* Prices. */

  /* Platforms. */
  { "unknown form", "platforms.csv", PLATFORMS "p1,P,tower,4,,open,,,,,,t\n", 2,
    6, QM_STATUS_INVALID, "'tower'" },
  { "takes nothing", "platforms.csv", PLATFORMS "p1,P,rack,4,,,,,,,,t\n", 2, 14,
    QM_STATUS_INVALID, "must say what it takes" },
  { "takes modules", "platforms.csv",
    PLATFORMS "p1,P,rack,4,,passive board,,,,,,t\n", 2, 14, QM_STATUS_INVALID,
    "'board' is not open, blower or passive" },
  { "comma in takes", "platforms.csv",
    PLATFORMS "p1,P,rack,4,,open;blower,,,,,,t\n", 2, 14, QM_STATUS_INVALID,
    "'open;blower' is not open" },
  { "sold with a stranger", "platforms.csv",
    PLATFORMS "p1,P,rack,8,h100-80gb-sxn,,,,,,,t\n", 2, 13, QM_STATUS_NOT_FOUND,
    "did you mean 'h100-80gb-sxm'?" },
  { "sold with and takes", "platforms.csv",
    PLATFORMS "p1,P,rack,8,h100-80gb-sxm,passive,,,,,,t\n", 2, 27,
    QM_STATUS_INVALID, "must be empty where GPUs are sold with it" },
  { "platform for no GPUs", "platforms.csv",
    PLATFORMS "p1,P,rack,0,,open,,,,,,t\n", 2, 11, QM_STATUS_INVALID,
    "is not between 1 and" },
  { "all supplies spare", "platforms.csv",
    PLATFORMS "p1,P,rack,4,,open,2,2,,,,t\n", 2, 21, QM_STATUS_INVALID,
    "is not less than psus" },
  { "memory beyond the most", "platforms.csv",
    PLATFORMS "p1,P,rack,4,,open,,,512,256,,t\n", 2, 25, QM_STATUS_INVALID,
    "is less than memory_gib" },
  { "platform with the id of a GPU", "platforms.csv",
    PLATFORMS "a6000,P,rack,4,,open,,,,,,t\n", 2, 1, QM_STATUS_INVALID,
    "is the name of a GPU" },
  { "platform with the id of a machine", "platforms.csv",
    PLATFORMS "server-4gpu,P,rack,4,,open,,,,,,t\n", 2, 1, QM_STATUS_INVALID,
    "is the name of a machine" },
  { "platform with the id of memory", "platforms.csv",
    PLATFORMS "memory-ddr5-rdimm,P,rack,4,,open,,,,,,t\n", 2, 1,
    QM_STATUS_INVALID, "is the name of a kind of memory" },
  { "part with memory of a host", "machines.csv",
    "machine,name,kind,gpus,memory_gib,part,source\n"
    "m1,M,server,4,512,,t\nm1,,,,512,CPU,\n",
    3, 7, QM_STATUS_INVALID, "belongs into the machine's own row" },
  { "host of no cores", "machines.csv",
    "machine,name,kind,gpus,cpu_cores,source\nm1,M,server,4,0,t\n", 2, 15,
    QM_STATUS_INVALID, "cpu_cores: '0' is not between" },
  { "copies faster than the memory", "gpus.csv",
    "id,name,memory_gib,fp16_tflops,source,memory_bandwidth_gbs,"
    "measured_bandwidth_gbs\nx1,X,24,71,t,936,936.5\n",
    2, 18, QM_STATUS_INVALID, "is more than the memory's 936 GB/s" },
  { "part of a multiprocessor", "gpus.csv",
    "id,name,memory_gib,fp16_tflops,source,multiprocessors\n"
    "x1,X,24,71,t,81.5\n",
    2, 14, QM_STATUS_INVALID, "multiprocessors: " },
  { "clock in gigahertz", "gpus.csv",
    "id,name,memory_gib,fp16_tflops,source,boost_mhz\nx1,X,24,71,t,1.695\n", 2,
    14, QM_STATUS_INVALID, "boost_mhz: '1.695' is not between" },
  { "no L2", "gpus.csv",
    "id,name,memory_gib,fp16_tflops,source,l2_mib\nx1,X,24,71,t,0\n", 2, 14,
    QM_STATUS_INVALID, "l2_mib: '0' is not between" },
  { "unverified is no column of platforms", "platforms.csv",
    PLATFORMS "p1,P,rack,4,,open,,,,,tdp_w,t\n", 2, 23, QM_STATUS_INVALID,
    "'tdp_w' is not a column" },
  { "platform twice", "platforms.csv",
    PLATFORMS "p1,P,rack,4,,open,,,,,,t\np1,P,rack,4,,open,,,,,,t\n", 3, 1,
    QM_STATUS_INVALID, "twice" },
  { "memory by the piece", "prices.csv",
    RANGES "memory-ddr5-rdimm,street,,,12,,,USD,,t\n", 2, 26, QM_STATUS_INVALID,
    "is for a 'gib'" },
  { "GPU by the GiB", "prices.csv", RANGES "a6000,street,gib,,12,,,USD,,t\n", 2,
    14, QM_STATUS_INVALID, "is for a 'gib'" },
  { "price with a comma", "prices.csv", PRICES "a6000,street,\"12,5\",USD,t\n",
    2, 14, QM_STATUS_INVALID, "price: '12,5' is not a number" },
  { "unknown item", "prices.csv", PRICES "h100,street,12,USD,t\n", 2, 1,
    QM_STATUS_NOT_FOUND,
    "item: unknown GPU or machine 'h100'; did you mean 'h100-80gb-sxm'?" },
  { "unknown machine", "prices.csv", PRICES "sever-4gpu,quote,12,USD,t\n", 2, 1,
    QM_STATUS_NOT_FOUND, "did you mean 'server-4gpu'?" },
  { "nothing near", "prices.csv", PRICES "abacus,quote,12,USD,t\n", 2, 1,
    QM_STATUS_NOT_FOUND, "unknown GPU or machine 'abacus'" },
  { "negative price", "prices.csv", PRICES "a6000,street,-1,USD,t\n", 2, 14,
    QM_STATUS_INVALID, "price: '-1' is negative" },
  { "minus zero", "prices.csv", PRICES "a6000,street,-0,USD,t\n", 2, 14,
    QM_STATUS_INVALID, "price: '-0' is negative" },
  { "scientific price", "prices.csv", PRICES "a6000,street,1e3,USD,t\n", 2, 14,
    QM_STATUS_INVALID, "price: '1e3' is not a plain amount" },
  { "too exact price", "prices.csv", PRICES "a6000,street,1.1234567,USD,t\n", 2,
    14, QM_STATUS_INVALID, "with at most 6 decimals" },
  { "absurd price", "prices.csv", PRICES "a6000,street,1000000000001,USD,t\n",
    2, 14, QM_STATUS_INVALID, "is not a price" },
  { "overflowing price", "prices.csv",
    PRICES "a6000,street,99999999999999999999,USD,t\n", 2, 14,
    QM_STATUS_INVALID, "is not a plain amount" },
  { "no price", "prices.csv", PRICES "a6000,street,,USD,t\n", 2, 14,
    QM_STATUS_INVALID, "there must be a price" },
  { "currency sign", "prices.csv", PRICES "a6000,street,12,$,t\n", 2, 17,
    QM_STATUS_INVALID, "currency: '$' is not a currency code" },
  { "small currency", "prices.csv", PRICES "a6000,street,12,usd,t\n", 2, 17,
    QM_STATUS_INVALID, "'usd' is not a currency code" },
  { "unknown price kind", "prices.csv", PRICES "a6000,stret,12,USD,t\n", 2, 7,
    QM_STATUS_INVALID, "'stret' is not 'published', 'quote'" },
  { "bad price date", "prices.csv",
    RANGES "a6000,street,each,1,12,,,USD,21/09/2024,t\n", 2, 30,
    QM_STATUS_INVALID, "observed_on: '21/09/2024' is not a date" },
  { "price and range", "prices.csv",
    RANGES "a6000,street,each,1,12,10,14,USD,,t\n", 2, 24, QM_STATUS_INVALID,
    "low: must be empty where price is not" },
  { "price and high", "prices.csv",
    RANGES "a6000,street,each,1,12,,14,USD,,t\n", 2, 25, QM_STATUS_INVALID,
    "high: must be empty where price is not" },
  { "half a range", "prices.csv", RANGES "a6000,street,each,1,,10,,USD,,t\n", 2,
    25, QM_STATUS_INVALID, "high: must not be empty" },
  { "range upside down", "prices.csv",
    RANGES "a6000,street,each,1,,10,9.99,USD,,t\n", 2, 25, QM_STATUS_INVALID,
    "high: is less than low" },
  { "street price an hour", "prices.csv",
    RANGES "a6000,street,hour,1,12,,,USD,,t\n", 2, 14, QM_STATUS_INVALID,
    "unit: a cloud price" },
  { "cloud price each", "prices.csv", RANGES "a6000,cloud,each,1,12,,,USD,,t\n",
    2, 13, QM_STATUS_INVALID, "unit: a cloud price" },
  { "each for two", "prices.csv", RANGES "a6000,street,each,2,12,,,USD,,t\n", 2,
    19, QM_STATUS_INVALID, "gpus: a price for 'each' is for 1" },
  { "price twice", "prices.csv",
    PRICES "a6000,street,12,USD,t\na6000,street,13,USD,t\n", 3, 1,
    QM_STATUS_INVALID, "the file has this entry twice" },

  /* Measurements. */
  { "unknown model", "measurements/m.csv",
    TIMES "pythia-1,a6000,1,naive,feasible,9,,,,,,,measured,,t\n", 2, 1,
    QM_STATUS_NOT_FOUND,
    "model: unknown model 'pythia-1'; did you mean 'pythia-1b'?" },
  { "unknown GPU", "measurements/m.csv",
    TIMES "pythia-1b,h100,1,naive,feasible,9,,,,,,,measured,,t\n", 2, 11,
    QM_STATUS_NOT_FOUND,
    "gpu: unknown GPU 'h100'; did you mean 'h100-80gb-sxm'?" },
  { "machine for a GPU", "measurements/m.csv",
    TIMES "pythia-1b,server-4gpu,1,naive,feasible,9,,,,,,,measured,,t\n", 2, 11,
    QM_STATUS_NOT_FOUND, "unknown GPU 'server-4gpu'" },
  { "feasible without days", "measurements/m.csv",
    TIMES "pythia-1b,a6000,1,naive,feasible,,,,,,,,measured,,t\n", 2, 34,
    QM_STATUS_INVALID, "days: must not be empty where it is feasible" },
  { "infeasible with days", "measurements/m.csv",
    TIMES "pythia-1b,a6000,1,naive,infeasible,9,,,,,,,measured,,t\n", 2, 36,
    QM_STATUS_INVALID, "days: must be empty unless it is feasible" },
  { "no time at all", "measurements/m.csv",
    TIMES "pythia-1b,a6000,1,naive,feasible,0,,,,,,,measured,,t\n", 2, 34,
    QM_STATUS_INVALID, "days: '0' is not between" },
  { "prediction without interval", "measurements/m.csv",
    TIMES "pythia-1b,a6000,1,naive,feasible,9,8,,,,,,predicted,,t\n", 2, 38,
    QM_STATUS_INVALID, "days_high: must not be empty" },
  { "measured with interval", "measurements/m.csv",
    TIMES "pythia-1b,a6000,1,naive,feasible,9,8,10,,,,,measured,,t\n", 2, 36,
    QM_STATUS_INVALID, "days_low: must be empty unless" },
  { "interval above", "measurements/m.csv",
    TIMES "pythia-1b,a6000,1,naive,feasible,9,9.5,10,,,,,predicted,,t\n", 2, 36,
    QM_STATUS_INVALID, "days_low: is more than days" },
  { "interval below", "measurements/m.csv",
    TIMES "pythia-1b,a6000,1,naive,feasible,9,8,8.5,,,,,predicted,,t\n", 2, 38,
    QM_STATUS_INVALID, "days_high: is less than days" },
  { "unknown sharding", "measurements/m.csv",
    TIMES "pythia-1b,a6000,1,naive,feasible,9,,,,zero_4,,,measured,,t\n", 2, 39,
    QM_STATUS_INVALID, "sharding: 'zero_4' is not 'none', 'zero_1'" },
  { "negative rounding", "measurements/m.csv",
    TIMES "pythia-1b,a6000,1,naive,feasible,9,,,-1,,,,measured,,t\n", 2, 38,
    QM_STATUS_INVALID, "rounding_days: '-1' is not between" },
  { "no provenance", "measurements/m.csv",
    TIMES "pythia-1b,a6000,1,naive,feasible,9,,,,,,,,,t\n", 2, 42,
    QM_STATUS_INVALID,
    "provenance: must be 'published', 'measured', 'predicted'" },
  { "no source", "measurements/m.csv",
    TIMES "pythia-1b,a6000,1,naive,feasible,9,,,,,,,measured,,\n", 2, 52,
    QM_STATUS_INVALID, "source: must not be empty" },
  { "measured twice", "measurements/m.csv",
    TIMES "pythia-1b,a6000,1,naive,feasible,9,,,,,,,measured,,t\n"
          "pythia-1b,a6000,1,naive,feasible,8,,,,,,,measured,,t\n",
    3, 1, QM_STATUS_INVALID, "the file has this entry twice" },
};

static const char good_time[] =
    "model,gpu,gpus,settings,feasibility,days,provenance,source\n"
    "pythia-1b,a6000,3,optimal,feasible,50.5,measured,good\n";

static size_t
count (const QmCatalog *catalog, const char *what)
{
  size_t n = 0;

  switch (what[0])
    {
    case 'g':
      qm_catalog_gpus (catalog, &n);
      break;
    case 'm':
      qm_catalog_machines (catalog, &n);
      break;
    case 'p':
      qm_catalog_prices (catalog, &n);
      break;
    case 't':
      qm_catalog_measurements (catalog, &n);
      break;
    default:
      qm_catalog_models (catalog, &n);
    }
  return n;
}

static QmCatalog *
load (void)
{
  QmCatalog *catalog = NULL;
  QmError error;

  CHECK (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), scratch_path ("user"),
                          &catalog, &error)
         == QM_OK);
  return catalog;
}

/* The user's directory has one file that is refused, and one good one. */
static void
check_refused (const char *file,
               int line,
               int column,
               QmStatus status,
               const char *message)
{
  QmCatalog *catalog;
  const QmError *problems;
  size_t n;

  scratch_write_text ("user/measurements/good.csv", good_time);
  catalog = load ();
  problems = qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 1);
  if (n == 1)
    {
      CHECK_CONTAINS (problems[0].file, file);
      CHECK_INT (problems[0].line, line);
      CHECK_INT (problems[0].column, column);
      CHECK_INT (problems[0].status, status);
      CHECK_CONTAINS (problems[0].message, message);
    }
  CHECK_INT ((int64_t) count (catalog, "gpus"), 35);
  CHECK_INT ((int64_t) count (catalog, "machines"), 4);
  CHECK_INT ((int64_t) count (catalog, "prices"), 74);
  CHECK_INT ((int64_t) count (catalog, "times"), 289);
  CHECK_INT ((int64_t) count (catalog, "x"), 9);
  qm_catalog_free (catalog);
}

static void
test_broken (void)
{
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
    {
      const Broken *b = &broken[i];
      char path[64];

      check_case (b->name);
      scratch_clear ();
      snprintf (path, sizeof path, "user/%s", b->file);
      scratch_write_text (path, b->text);
      check_refused (b->file, b->line, b->column, b->status, b->message);
    }
}

static void
test_nul (void)
{
  static const char text[] = GPUS "x1,X\0One,24,71,test\n";

  check_case ("NUL byte");
  scratch_clear ();
  scratch_write ("user/gpus.csv", text, sizeof text - 1);
  check_refused ("gpus.csv", 2, 5, QM_STATUS_PARSE, "control character 0x00");
}

static void
test_odd_files (void)
{
  check_case ("directory named like a file");
  scratch_clear ();
  scratch_directory ("user/gpus.csv");
  check_refused ("gpus.csv", 0, 0, QM_STATUS_IO, "is a directory");

  check_case ("directory named like a measurement");
  scratch_clear ();
  scratch_directory ("user/measurements/x.csv");
  check_refused ("x.csv", 0, 0, QM_STATUS_IO, "is a directory");

  check_case ("file named like a directory");
  scratch_clear ();
  scratch_write_text ("user/models", "x");
  check_refused ("models", 0, 0, QM_STATUS_IO, "Not a directory");

  check_case ("symbolic link to itself");
  scratch_clear ();
  scratch_directory ("user");
  CHECK (symlink ("prices.csv", scratch_path ("user/prices.csv")) == 0);
  check_refused ("prices.csv", 0, 0, QM_STATUS_IO, "cannot be opened");

  check_case ("symbolic link to nothing");
  scratch_clear ();
  scratch_directory ("user");
  CHECK (symlink ("nothing", scratch_path ("user/prices.csv")) == 0);
  check_refused ("prices.csv", 0, 0, QM_STATUS_IO, "cannot be opened");

  check_case ("named pipe");
  scratch_clear ();
  scratch_directory ("user");
  CHECK (mkfifo (scratch_path ("user/prices.csv"), 0600) == 0);
  check_refused ("prices.csv", 0, 0, QM_STATUS_IO, "is not a regular file");
}

static void
test_unreadable (void)
{
  /* The superuser may read everything. */
  if (geteuid () == 0)
    return;
  check_case ("unreadable file");
  scratch_clear ();
  scratch_write_text ("user/gpus.csv", GPUS);
  CHECK (chmod (scratch_path ("user/gpus.csv"), 0) == 0);
  check_refused ("gpus.csv", 0, 0, QM_STATUS_IO, "cannot be opened");
}

static void
test_huge (void)
{
  const size_t length = QM_TEXT_MAX_BYTES;
  char *text = malloc (length + 1);

  CHECK (text != NULL);
  check_case ("huge file");
  scratch_clear ();
  memset (text, ',', length + 1);
  scratch_write ("user/gpus.csv", text, length + 1);
  check_refused ("gpus.csv", 0, 0, QM_STATUS_IO, "is larger than 8 MiB");

  check_case ("largest file");
  scratch_write ("user/gpus.csv", text, length);
  check_refused ("gpus.csv", 1, 33, QM_STATUS_PARSE, "more than 32 columns");

  check_case ("one long cell");
  memset (text, 'a', length);
  scratch_write ("user/gpus.csv", text, length);
  check_refused ("gpus.csv", 1, 1, QM_STATUS_INVALID, "unknown column 'aaaa");

  check_case ("many line ends");
  memset (text, '\n', length);
  memcpy (text, GPUS, strlen (GPUS));
  text[length - 1] = 'x';
  scratch_write ("user/gpus.csv", text, length);
  check_refused ("gpus.csv", (int) (length - strlen (GPUS)) + 1, 1,
                 QM_STATUS_PARSE, "the row has 1 cells");
  free (text);
}

static void
test_user_directory (void)
{
  QmCatalog *catalog;
  const QmError *problems;
  size_t n;

  check_case ("user directory that is a file");
  scratch_clear ();
  scratch_write_text ("user", "x");
  catalog = load ();
  problems = qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 1);
  CHECK_CONTAINS (problems[0].message, "Not a directory");
  CHECK_INT ((int64_t) count (catalog, "gpus"), 35);
  qm_catalog_free (catalog);

  check_case ("no user directory");
  scratch_clear ();
  catalog = load ();
  qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 0);
  qm_catalog_free (catalog);
}

static void
test_shipped_directory (void)
{
  QmCatalog *catalog = NULL;
  QmError error = { 0 };
  size_t n;

  check_case ("no shipped directory");
  CHECK (qm_catalog_load (scratch_path ("none"), NULL, &catalog, &error)
         == QM_STATUS_NOT_FOUND);
  CHECK (catalog == NULL);
  CHECK_CONTAINS (error.file, "none");
  CHECK_CONTAINS (error.message, "cannot be opened");
  CHECK (qm_catalog_load (scratch_path ("none"), NULL, &catalog, NULL)
         == QM_STATUS_NOT_FOUND);

  check_case ("empty shipped directory");
  scratch_directory ("shipped");
  CHECK (qm_catalog_load (scratch_path ("shipped"), NULL, &catalog, &error)
         == QM_OK);
  qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 5);
  CHECK_INT ((int64_t) count (catalog, "gpus"), 0);
  CHECK (qm_catalog_gpu (catalog, "a6000") == NULL);
  qm_catalog_free (catalog);
}

int
main (void)
{
  scratch_begin ();
  test_broken ();
  test_nul ();
  test_odd_files ();
  test_unreadable ();
  test_huge ();
  test_user_directory ();
  test_shipped_directory ();
  qm_catalog_free (NULL);
  scratch_end ();
  return check_report ();
}
