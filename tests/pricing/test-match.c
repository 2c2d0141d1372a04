/* SPDX-License-Identifier: Apache-2.0 */

#include "data/catalog.h"
#include "pricing/formats/qm-sheet.h"
#include "pricing/quotes/qm-match.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

static QmCatalog *catalog;
static QmMatcher *matcher;

/* A name as somebody writes it, what it is, and how many GPUs one unit has.
 * "?" stands before ids that are to be asked about, "" for nothing. */
typedef struct
{
  const char *name;
  const char *expected;
  int gpus;
} Name;

static const Name names[] = {
  /* GeForce */
  { "NVIDIA GeForce RTX 3090", "rtx3090", 1 },
  { "NVIDIA GeForce RTX 3090 Founders Edition 24GB GDDR6X", "rtx3090", 1 },
  { "NVIDIA Founders Edition GeForce RTX 3090 24GB FE GPU", "rtx3090", 1 },
  { "GeForce RTX 3090 Ti", "rtx3090-ti", 1 },
  { "NVIDIA GeForce RTX 3090 Ti Founders Edition 24GB Used For Games No "
    "Mining",
    "rtx3090-ti", 1 },
  { "RTX3090Ti 24G", "rtx3090-ti", 1 },
  { "RTX 3090Ti", "rtx3090-ti", 1 },
  { "ASUS TUF Gaming GeForce RTX3090-24G", "rtx3090", 1 },
  { "Zotac Gaming GeForce RTX 3090 Trinity OC", "rtx3090", 1 },
  { "Gigabyte GV-N3090 GeForce RTX 3090 GAMING OC 24G", "rtx3090", 1 },
  { "Palit RTX 3090 GamingPro, 24 GB GDDR6X", "rtx3090", 1 },
  { "Grafikkarte MSI GeForce RTX™ 3090 SUPRIM X 24G", "rtx3090", 1 },
  { "Carte graphique RTX 3090 24 Go", "rtx3090", 1 },
  { "Видеокарта NVIDIA GeForce RTX 3090 24GB", "rtx3090", 1 },
  { "2x GeForce RTX 3090", "rtx3090", 2 },
  { "4 x NVIDIA RTX 3090 24GB", "rtx3090", 4 },
  { "(2) RTX 3090", "rtx3090", 2 },
  { "RTX 3090 (x2)", "rtx3090", 2 },
  { "8× RTX 3090", "rtx3090", 8 },
  { "GeForce RTX 3080 Ti 12GB", "", 0 },
  { "GeForce RTX 3080 10GB", "", 0 },
  { "GeForce RTX 2080 Ti", "", 0 },
  { "RTX 3090 12GB", "?rtx3090", 1 },
  { "NVIDIA GeForce RTX 4090 Founders Edition 24GB GDDR6X Graphics Card, "
    "Original Box",
    "rtx4090", 1 },
  { "NVIDIA GeForce RTX 4090 FOUNDERS EDITION 24GB PG136D GDDR6X "
    "900-1G136-2530 GPU",
    "rtx4090", 1 },
  { "ASUS ROG Strix GeForce RTX 4090 OC 24GB", "rtx4090", 1 },
  { "Asus Dual GeForce RTX 4090", "rtx4090", 1 },
  { "INNO3D GeForce RTX 4090 iCHILL Frostbite with water block", "rtx4090", 1 },
  { "Gainward GeForce RTX 4090 Phantom GS 24 GB PCIe 4.0 x16", "rtx4090", 1 },
  { "2xRTX4090", "rtx4090", 2 },
  { "4xRTX 4090 24GB", "rtx4090", 4 },
  { "MSI RTX 4090 GAMING X TRIO 3x DisplayPort 1x HDMI", "rtx4090", 1 },
  { "RTX 4090 Laptop GPU", "", 0 },
  { "NVIDIA GeForce RTX 4090 Mobile 16GB", "", 0 },
  { "Lenovo Legion Pro 7 Notebook RTX 4090", "", 0 },
  { "Colorful iGame GeForce RTX 4090 D 24GB Vulcan W GPU GDDR6X Graphics Card",
    "", 0 },
  { "GeForce RTX 4090D 24GB", "", 0 },
  { "GeForce RTX 4080 SUPER 16GB", "", 0 },
  { "RTX 4090 48GB turbo", "?rtx4090", 1 },
  { "NVIDIA GeForce RTX 5090 32GB GDDR7", "rtx5090", 1 },
  { "GeForce RTX 5090 Founders Edition 900-1G144-2530-000", "rtx5090", 1 },
  { "Zotac GeForce RTX 5090 SOLID OC 32GB", "rtx5090", 1 },
  { "NVIDIA GeForce RTX 5090 D 32GB", "", 0 },
  { "NVIDIA GeForce RTX 5090 D V2 24GB", "", 0 },
  { "Zotac GeForce RTX 5060 Twin Edge OC 8GB GDDR7 Graphics Card", "", 0 },
  { "RTX 5090 Laptop", "", 0 },
  { "64GB DDR5-6000 for RTX 5090 builds", "", 0 },
  /* Workstation */
  { "NVIDIA RTX A5000 24GB", "a5000", 1 },
  { "PNY NVIDIA RTX A5000 VCNRTXA5000-PB, 24 GB, GDDR6", "a5000", 1 },
  { "PNY NVIDIA RTX A5500 24GB GDDR6 Graphics Card", "", 0 },
  { "RTX A5000 Laptop GPU 16GB", "", 0 },
  { "NVIDIA RTX A6000", "a6000", 1 },
  { "NVIDIA RTX A6000 48GB GDDR6 384-bit GPU Graphics Card", "a6000", 1 },
  { "PNY Quadro RTX A6000 48GB GDDR6 4x DP VCNRTXA6000-PB", "a6000", 1 },
  { "ThinkSystem NVIDIA Quadro RTX A6000 48GB PCIe Active GPU", "a6000", 1 },
  { "RTX-A6000", "a6000", 1 },
  { "RTXA6000 48 GB", "a6000", 1 },
  { "NVIDIA RTX A6000 (48GB) (x2)", "a6000", 2 },
  { "GPU: 4 x NVIDIA A6000", "a6000", 4 },
  { "A6000 48GB", "a6000", 1 },
  { "Sony Alpha A6000", "?a6000", 1 },
  { "A6000 Ada 48GB", "?a6000;rtx6000-ada", 1 },
  { "NVIDIA RTX 6000 Ada Generation", "rtx6000-ada", 1 },
  { "NVIDIA RTX 6000 Ada 48GB GPU GDDR6 PCIe 4.0 x16 Graphics Card",
    "rtx6000-ada", 1 },
  { "PNY VCNRTX6000ADA-PB RTX 6000 Ada Generation 48 GB Video Card",
    "rtx6000-ada", 1 },
  { "NVIDIA RTX 6000 Ada 48GB 900-5G133-2550-000", "rtx6000-ada", 1 },
  { "RTX6000 Ada", "rtx6000-ada", 1 },
  { "RTX 6000ADA 48G", "rtx6000-ada", 1 },
  { "2 x RTX 6000 Ada", "rtx6000-ada", 2 },
  { "NVIDIA RTX 5880 Ada 48GB GDDR6 ECC PCIe 4.0 Graphics Card HP N95508-001",
    "", 0 },
  { "RTX 5000 Ada Generation 32GB", "", 0 },
  { "RTX 4000 SFF Ada 20GB", "", 0 },
  { "NVIDIA Quadro RTX 6000 24GB GDDR6", "", 0 },
  { "NVIDIA Quadro RTX 8000 48GB GDDR6 PCIe GPU 699-2G150-0231-302 Tested", "",
    0 },
  { "NVIDIA RTX 6000 48GB", "?rtx6000-ada", 1 },
  { "NVIDIA RTX 6000 96GB", "?rtxpro6000-ws;rtxpro6000-maxq;rtxpro6000-server",
    1 },
  { "NVIDIA RTX 6000 24GB", "", 0 },
  { "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtxpro6000-ws", 1 },
  { "PNY NVIDIA RTX PRO 6000 Blackwell Workstation Edition VCNRTXPRO6000-SB",
    "rtxpro6000-ws", 1 },
  { "NVIDIA RTX PRO 6000 Blackwell WS 96GB GDDR7", "rtxpro6000-ws", 1 },
  { "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition 96GB",
    "rtxpro6000-maxq", 1 },
  { "RTX PRO 6000 Max-Q", "rtxpro6000-maxq", 1 },
  { "NVIDIA RTX Pro 6000 Blackwell Max Q WS 900-5G153-2200-000",
    "rtxpro6000-maxq", 1 },
  { "NVIDIA RTX PRO 6000 Blackwell Server Edition 96GB GDDR7 ECC Passive FHFL "
    "600W 900-2G153-0000-000",
    "rtxpro6000-server", 1 },
  { "RTX PRO 6000 Blackwell SE, 96GB, passive", "rtxpro6000-server", 1 },
  { "8x NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtxpro6000-server", 8 },
  { "NVIDIA RTX PRO 6000 Blackwell 96GB GDDR7",
    "?rtxpro6000-ws;rtxpro6000-maxq;rtxpro6000-server", 1 },
  { "RTXPRO6000", "?rtxpro6000-ws;rtxpro6000-maxq;rtxpro6000-server", 1 },
  { "RTX 6000 Pro 96GB 300W", "rtxpro6000-maxq", 1 },
  { "RTX 6000 Pro 96GB 600W", "?rtxpro6000-ws;rtxpro6000-server", 1 },
  { "NVIDIA RTX PRO 5000 Blackwell 48GB GDDR7 PCIe 5.0 Professional "
    "Workstation GPU",
    "rtxpro5000-48gb", 1 },
  { "NVIDIA RTX PRO 4500 Blackwell Server Edition 32GB", "rtxpro4500-server",
    1 },
  { "AMD Radeon PRO W7900 48GB GDDR6 Graphics Card", "", 0 },
  { "NVIDIA Quadro GV100 32GB HBM2 PCIe 3.0 x16 Volta Graphics Card", "", 0 },
  { "NVIDIA Titan RTX 24GB GPU GDDR6 PCIe 3.0 CUDA", "", 0 },
  /* Small and passive cards */
  { "NVIDIA A40 48GB GDDR6 699-2G133 2-slot Server Graphics Card CUDA GPU",
    "a40", 1 },
  { "NVIDIA A40 48GB GPU Dell OEM PCIe 4.0 Workstation AI Card", "a40", 1 },
  { "ThinkSystem NVIDIA A40 48GB PCIe Gen4 Passive GPU", "a40", 1 },
  { "Video Card,GPU-Data Center A40 PCIe,PN:900-2G133-0000-100/48GB "
    "Memory/696GB/s Bandwidth,1PCS Cable",
    "a40", 1 },
  { "NVIDIA L4", "l4", 1 },
  { "NVIDIA L4 24GB GDDR6 PCIe low profile", "l4", 1 },
  { "NVIDIA L4 24GB GPU inference accelerator 900-2G193-0000-000", "l4", 1 },
  { "L4 switch module", "?l4", 1 },
  { "NVIDIA L40S GPU Accelerator 48GB GDDR6 Passive AI 699-2G133-0242-L00",
    "l40s", 1 },
  { "NVIDIA L40S 48GB GDDR6 PCIe 4.0 GPU Graphics Card Ada "
    "900-2G133-0080-000",
    "l40s", 1 },
  { "NVIDIA Tesla L40S 48GB GDDR6 PCIe 4.0 x16 Enterprise AI GPU", "l40s", 1 },
  { "Lenovo 4X67A90669 L40S 48G PCIE GEN4 PAS", "l40s", 1 },
  { "4x NVIDIA L40S", "l40s", 4 },
  { "NVIDIA Tesla L40 48GB GDDR6 PCIe 4.0 x16 Deep Learning Graphics Card", "",
    0 },
  { "NVIDIA L20 48GB", "", 0 },
  { "NVIDIA A10 24GB PCIe", "a10", 1 },
  { "NVIDIA Tesla A10 24 GB", "a10", 1 },
  { "NVIDIA A10G Tensor Core GPU 24GB", "", 0 },
  { "NVIDIA A16 64GB", "", 0 },
  { "NVIDIA A2 16GB", "", 0 },
  { "NVIDIA A30 24GB HBM2 PCIe", "a30", 1 },
  { "ThinkSystem NVIDIA A30 24GB PCIe Gen4 Passive GPU", "a30", 1 },
  { "NVIDIA Tesla T4 16GB GDDR6 (900-2G183-0000-001)", "t4", 1 },
  { "6x NVIDIA T4 16GB", "t4", 6 },
  { "NVIDIA T400 4GB", "", 0 },
  { "NVIDIA T1000 8GB", "", 0 },
  /* A100 */
  { "NVIDIA A100 40GB PCIe Server Graphics Accelerator 900-21001-0000-000",
    "a100-40gb-pcie", 1 },
  { "NVIDIA A100 40GB HBM2e PCIe 4.0 x16 CUDA Tensor Core GPU",
    "a100-40gb-pcie", 1 },
  { "NVIDIA A100 40GB HBM2 PCIe GPU Accelerator Card 900-21001-2700-030 "
    "Tested",
    "a100-40gb-pcie", 1 },
  { "NVIDIA A100 80GB GPU HBM2e 6912 CUDA 1410MHz PCIe 4.0 x16",
    "a100-80gb-pcie", 1 },
  { "NVIDIA Tesla A100 80GB PCIe HBM2e GPU Accelerator Graphics Card",
    "a100-80gb-pcie", 1 },
  { "Видеокарта Nvidia Tesla A100 80GB HBM2 PCIe", "a100-80gb-pcie", 1 },
  { "NVIDIA A100-PCIE-80GB", "a100-80gb-pcie", 1 },
  { "NVIDIA A100-SXM4-80GB", "a100-80gb-sxm", 1 },
  { "NVIDIA A100-SXM4-40GB", "a100-40gb-sxm", 1 },
  { "A100 SXM 80G", "a100-80gb-sxm", 1 },
  { "8x NVIDIA A100 80GB SXM4", "a100-80gb-sxm", 8 },
  { "8xA100 80GB SXM", "a100-80gb-sxm", 8 },
  { "NVIDIA HGX A100 8-GPU 80GB", "a100-80gb-sxm", 8 },
  { "HGX A100 4-GPU 40GB", "a100-40gb-sxm", 4 },
  { "NVIDIA HGX A100 4-GPU", "?a100-40gb-sxm;a100-80gb-sxm", 4 },
  { "NVIDIA DGX A100 640GB", "a100-80gb-sxm", 8 },
  { "NVIDIA DGX A100 320GB", "a100-40gb-sxm", 8 },
  { "NVIDIA A100", "?a100-40gb-pcie;a100-40gb-sxm;a100-80gb-pcie;a100-80gb-sxm",
    1 },
  { "NVIDIA A100 80GB", "?a100-80gb-pcie;a100-80gb-sxm", 1 },
  { "NVIDIA A100 PCIe", "?a100-40gb-pcie;a100-80gb-pcie", 1 },
  { "4x A100 80 GB PCIe, 512 GB RAM, 40 GbE", "a100-80gb-pcie", 4 },
  { "GPU Server 2U, 2x EPYC 7543, 1TB DDR4, 4x NVIDIA A100 40GB PCIe",
    "a100-40gb-pcie", 4 },
  { "NVIDIA A800 80GB PCIe", "", 0 },
  { "Dell NVIDIA RTX A800 40GB Graphics Card YYJ7R", "", 0 },
  /* H100, H200, B200 */
  { "NVIDIA Tesla H100 80GB PCIe Original GPU Graphics Card "
    "900-21010-0000-000",
    "h100-80gb-pcie", 1 },
  { "NVIDIA Tesla H100 80GB HBM2e PCIe 5.0 x16 high-performance Graphics Card",
    "h100-80gb-pcie", 1 },
  { "PNY H100 PCIe 80GB HBM3 NVH100TCGPU-KIT", "h100-80gb-pcie", 1 },
  { "H100PCIe 80GB", "h100-80gb-pcie", 1 },
  { "NVIDIA H100 80GB HBM3 SXM5", "h100-80gb-sxm", 1 },
  { "8x NVIDIA H100 80GB SXM5", "h100-80gb-sxm", 8 },
  { "8xH100 SXM5", "h100-80gb-sxm", 8 },
  { "8x NVIDIA H100 80GB SXM5 (with NVSwitch)", "h100-80gb-sxm", 8 },
  { "NVIDIA HGX H100 8-GPU SXM5", "h100-80gb-sxm", 8 },
  { "HGX H100 8-GPU", "h100-80gb-sxm", 8 },
  { "HGX H100 4-GPU", "h100-80gb-sxm", 4 },
  { "NVIDIA HGX H100", "h100-80gb-sxm", 0 },
  { "NVIDIA DGX H100", "h100-80gb-sxm", 8 },
  { "Supermicro 8U GPU server SYS-821GE-TNHR, 8x H100 80GB SXM5, 2TB DDR5",
    "h100-80gb-sxm", 8 },
  { "NVIDIA H100 NVL 94GB", "h100-94gb-nvl", 1 },
  { "NVIDIA H100 NVL 94GB PCIe", "h100-94gb-nvl", 1 },
  { "H100NVL", "h100-94gb-nvl", 1 },
  { "NVIDIA H100 NVL 188GB HBM3", "h100-94gb-nvl", 2 },
  { "NVIDIA H100", "?h100-80gb-pcie;h100-80gb-sxm;h100-94gb-nvl", 1 },
  { "NVIDIA H100 80GB", "?h100-80gb-pcie;h100-80gb-sxm", 1 },
  { "NVIDIA H800 NVL 94GB", "", 0 },
  { "NVIDIA GH200 Grace Hopper Superchip 96GB", "gh200-96gb", 1 },
  { "NVIDIA H200 NVL Tensor Core GPU 141GB HBM3e PCIe Gen 5.0 Hopper "
    "Architecture Accelerator",
    "h200-141gb-nvl", 1 },
  { "NVIDIA H200 NVL 141GB HBM3e PCIe 5.0 Enterprise high-performance "
    "Accelerator GPU",
    "h200-141gb-nvl", 1 },
  { "NVIDIA H200 SXM5 141GB", "h200-141gb-sxm", 1 },
  { "NVIDIA H200 141GB HBM3e SXM", "h200-141gb-sxm", 1 },
  { "HGX H200 8-GPU", "h200-141gb-sxm", 8 },
  { "8x H200", "?h200-141gb-sxm;h200-141gb-nvl", 8 },
  { "NVIDIA HGX B200 8-GPU", "b200-180gb-sxm", 8 },
  { "NVIDIA B200 180GB SXM6", "b200-180gb-sxm", 1 },
  { "B200 192GB HBM3e", "b200-180gb-sxm", 1 },
  { "NVIDIA GB200 NVL72", "gb200", 72 },
  { "NVIDIA DGX B200", "b200-180gb-sxm", 8 },
  /* V100 */
  { "NVIDIA Tesla V100 32GB HBM2 PCIe GPU CUDA Computing Accelerator Graphics "
    "Card",
    "v100-32gb-pcie", 1 },
  { "ThinkSystem NVIDIA Tesla V100 16GB PCIe Passive GPU", "v100-16gb-pcie",
    1 },
  { "Tesla V100-SXM2-16GB", "v100-16gb-sxm2", 1 },
  { "Tesla V100-SXM2-32GB", "v100-32gb-sxm2", 1 },
  { "Tesla V100 SXM3 32GB", "?v100-32gb-sxm2", 1 },
  { "Dell NVIDIA Tesla V100S PCIe 32GB HBM2 Volta GPU Accelerator", "", 0 },
  { "NVIDIA Tesla V100S 32GB PCIe GPU 699-2G500-0212-400", "", 0 },
  /* AMD and others */
  { "AMD Instinct MI210 64GB HBM2 PCIe 4.0 x16 Professional Graphics Card",
    "mi210", 1 },
  { "AMD 102D6730600 Instinct MI210 64GB PCIe GPU Accelerator", "mi210", 1 },
  { "ThinkSystem AMD Instinct MI210 PCIe Gen4 Passive Accelerator", "mi210",
    1 },
  { "AMD Instinct MI250X OAM", "mi250x", 1 },
  { "AMD Instinct MI250 128GB", "", 0 },
  { "8x AMD Instinct MI300X 192GB OAM", "mi300x", 8 },
  { "AMD Instinct MI300A", "", 0 },
  { "AMD MI325X 256GB", "mi325x", 1 },
  { "AMD Radeon Instinct MI100 32GB HBM2 PCIe 4.0", "", 0 },
  { "NVIDIA DGX Spark", "gb10", 1 },
  { "NVIDIA DGX Spark GB10 128GB", "gb10", 1 },
  { "Dell Pro Max with NVIDIA GB10", "gb10", 1 },
  /* Made for a GPU, or ready for one */
  { "NVLink bridge for A100", "", 0 },
  { "NVIDIA NVLink Bridge 2-Slot for RTX A6000", "", 0 },
  { "NVIDIA RTX A6000 NVLink HB Bridge 3-slot", "", 0 },
  { "power cable for H100", "", 0 },
  { "H100 PCIe power cable 16-pin", "", 0 },
  { "EKWB water block RTX 3090", "", 0 },
  { "Alphacool Eisblock Wasserkühler RTX 4090", "", 0 },
  { "GeForce RTX 4090 waterblock + backplate", "", 0 },
  { "GPU-Halterung für RTX 4090", "", 0 },
  { "Cooler for NVIDIA RTX 3090", "", 0 },
  { "NVIDIA AI Enterprise license for H100 80GB", "", 0 },
  { "Support bracket RTX 4090", "", 0 },
  { "Riser card for A100 PCIe", "", 0 },
  { "GPU server barebone, supports up to 8x H100 SXM5", "", 0 },
  { "Chassis for up to 4 NVIDIA A100 PCIe 80GB", "", 0 },
  { "2x NVIDIA A100 80GB PCIe incl. NVLink bridge", "a100-80gb-pcie", 2 },
  { "NVIDIA RTX A6000 48GB, 3 Jahre Garantie", "a6000", 1 },
  { "NVIDIA H100 NVL 94GB with 5 year NVAIE subscription", "h100-94gb-nvl", 1 },
  { "Dell PowerEdge R750xa with 4x A100 80GB PCIe, NVLink bridges",
    "a100-80gb-pcie", 4 },
  { "BIZON G9000 8x H100 SXM5 with water cooling blocks", "h100-80gb-sxm", 8 },
  { "EK-Quantum Vector² FE RTX 3080/3090/3090 Ti water block", "", 0 },
  { "Lizenz NVIDIA vGPU vWS für A40", "", 0 },
  { "NVIDIA A40 mit vGPU Lizenz", "a40", 1 },
  { "Installation of 8x H100 SXM5 server", "", 0 },
  { "3 year warranty extension NVIDIA A100", "", 0 },
  { "DGX H100 Business Standard Support 3 years", "", 0 },
  { "NVIDIA DGX H100 with Business Standard Support 3 years", "h100-80gb-sxm",
    8 },
  { "DGX H100, 3 years business standard support", "h100-80gb-sxm", 8 },
  /* A machine with a service, a service for one, or what may be either */
  { "DGX H100 3 years support", "?h100-80gb-sxm", 8 },
  { "DGX H100 support 36 months", "?h100-80gb-sxm", 8 },
  { "DGX H100 5yr NBD", "?h100-80gb-sxm", 8 },
  { "DGX H100 Care Pack 5yr", "?h100-80gb-sxm", 8 },
  { "DGX H100 640GB system 3Y on-site service", "?h100-80gb-sxm", 8 },
  { "DGX H100 Support 3 Jahre", "?h100-80gb-sxm", 8 },
  { "DGX H100 Wartung 36 Monate", "?h100-80gb-sxm", 8 },
  { "DGX H100 Gewährleistung 5 Jahre", "?h100-80gb-sxm", 8 },
  { "DGX H100 Vor-Ort-Service 5 Jahre", "?h100-80gb-sxm", 8 },
  { "DGX H100 garantie 3 ans", "?h100-80gb-sxm", 8 },
  { "DGX H100 contrat de maintenance 36 mois", "?h100-80gb-sxm", 8 },
  { "DGX H100 maintenance sur site 3 ans", "?h100-80gb-sxm", 8 },
  { "DGX H100 soporte 3 años", "?h100-80gb-sxm", 8 },
  { "DGX H100 mantenimiento 36 meses", "?h100-80gb-sxm", 8 },
  { "DGX H100 manutenzione 3 anni", "?h100-80gb-sxm", 8 },
  { "DGX H100 estensione garanzia 5 anni", "?h100-80gb-sxm", 8 },
  { "DGX H100 assistenza 36 mesi", "?h100-80gb-sxm", 8 },
  { "DGX H100 onderhoud 3 jaar", "?h100-80gb-sxm", 8 },
  { "DGX H100 3 jaar ondersteuning", "?h100-80gb-sxm", 8 },
  { "DGX H100 gwarancja 36 miesięcy", "?h100-80gb-sxm", 8 },
  { "DGX H100 wsparcie 3 lata", "?h100-80gb-sxm", 8 },
  { "DGX H100 suporte 3 anos", "?h100-80gb-sxm", 8 },
  { "DGX H100 manutenção 36 meses", "?h100-80gb-sxm", 8 },
  { "DGX H100 保守 3年", "?h100-80gb-sxm", 8 },
  { "DGX H100 サポート 36ヶ月", "?h100-80gb-sxm", 8 },
  { "DGX H100 gold support 24x7", "?h100-80gb-sxm", 8 },
  { "HGX H100 8-GPU server 36 months warranty", "?h100-80gb-sxm", 8 },
  { "8x H100 SXM5 server 5 Jahre Gewährleistung", "?h100-80gb-sxm", 8 },
  { "DGX H100 installation", "?h100-80gb-sxm", 8 },
  { "DGX H100 NVIDIA AI Enterprise subscription 3 years", "?h100-80gb-sxm", 8 },
  { "3 years support DGX H100", "", 0 },
  { "36 months support DGX H100", "", 0 },
  { "5yr NBD DGX H100", "", 0 },
  { "5 Jahre NBD on-site DGX H100", "", 0 },
  { "Care Pack 5yr DGX H100", "", 0 },
  { "On-site service DGX H100", "", 0 },
  { "Wartung 36 Monate DGX H100", "", 0 },
  { "Gewährleistung 5 Jahre DGX H100", "", 0 },
  { "Vor-Ort-Service DGX H100", "", 0 },
  { "Entretien DGX H100 36 mois", "", 0 },
  { "Soporte 3 años DGX H100", "", 0 },
  { "Assistenza 36 mesi DGX H100", "", 0 },
  { "Ondersteuning 3 jaar DGX H100", "", 0 },
  { "Wsparcie 3 lata DGX H100", "", 0 },
  { "Suporte 3 anos DGX H100", "", 0 },
  { "保守 3年 DGX H100", "", 0 },
  { "SLA DGX H100", "", 0 },
  { "DGX H100 with 3 years support", "h100-80gb-sxm", 8 },
  { "DGX H100, 3 years support", "h100-80gb-sxm", 8 },
  { "DGX H100 (incl. 36 Monate Wartung)", "h100-80gb-sxm", 8 },
  { "DGX H100 - 5yr NBD", "h100-80gb-sxm", 8 },
  { "DGX H100 mit 3 Jahre Gewährleistung", "h100-80gb-sxm", 8 },
  { "DGX H100 con soporte 3 años", "h100-80gb-sxm", 8 },
  { "GPU server, 3 years NBD on-site, 8x H100 SXM5", "h100-80gb-sxm", 8 },
  { "Server 8x H100 SXM5 2x Xeon 8480 2TB DDR5 3 years support",
    "h100-80gb-sxm", 8 },
  { "DGX Spark 3 years support", "?gb10", 1 },
  { "DGX Spark", "gb10", 1 },
  { "NVIDIA RTX A6000 48GB 3 Year Warranty", "a6000", 1 },
  { "Rack rails for DGX H100", "", 0 },
  { "Training course DGX H100", "", 0 },
  { "Wartungsvertrag DGX H100", "", 0 },
  { "8x H100 SXM5 server support contract", "", 0 },
  { "Garantieverlängerung DGX H100 auf 5 Jahre", "", 0 },
  { "Manutenção servidor 8x H100 SXM5", "", 0 },
  { "Mantenimiento servidor 8x H100 SXM5", "", 0 },
  { "Manutenzione server 8x H100 SXM5", "", 0 },
  { "Onderhoud server 8x H100 SXM5", "", 0 },
  { "Serwis gwarancyjny serwera 8x H100 SXM5", "", 0 },
  { "Servidor con garantía 8x H100 SXM5", "h100-80gb-sxm", 8 },
  /* Systems */
  { "ThinkSystem NVIDIA H100 94GB HBM3 PCIe Gen5 Passive GPU", "h100-94gb-nvl",
    1 },
  { "ThinkSystem NVIDIA HGX A100 80GB 500W 8-GPU Board", "a100-80gb-sxm", 8 },
  { "Dell PowerEdge XE9680, 8 x NVIDIA H100 80GB SXM5 700W", "h100-80gb-sxm",
    8 },
  { "Supermicro AS-4125GS-TNRT GPU server (8x RTX 4090)", "rtx4090", 8 },
  { "Lambda Vector: 2x RTX 4090, Threadripper PRO, 128GB DDR5", "rtx4090", 2 },
  { "NVIDIA DGX Station A100 320GB", "a100-80gb-sxm", 4 },
  { "AMD Instinct MI300X Platform 8-GPU UBB 1.5TB", "mi300x", 8 },
  { "H100 80GB HBM2e passive", "h100-80gb-pcie", 1 },
  { "2 x NVIDIA H100s 80GB PCIe", "h100-80gb-pcie", 2 },
  { "8 V100s", "", 0 },
  { "NVIDIA PG506-232 96GB A100",
    "?a100-40gb-pcie;a100-40gb-sxm;a100-80gb-pcie;a100-80gb-sxm", 1 },
  { "NVIDIA A100X 80GB", "", 0 },
  /* Nothing */
  { "Intel Xeon Gold 6430", "", 0 },
  { "AMD EPYC 9654", "", 0 },
  { "Kingston 64GB DDR5-6000", "", 0 },
  { "Mellanox ConnectX-7 400GbE", "", 0 },
  { "Noctua NH-D15", "", 0 },
  { "Corsair H100i Elite", "", 0 },
  { "Samsung PM9A3 3.84TB U.2", "", 0 },
  { "Shipping and handling", "", 0 },
  { "Seasonic PRIME TX-1600", "", 0 },
  { "", "", 0 },
  /* Machines and part numbers alone */
  { "GPU server for 8 GPUs", "server-8gpu", 0 },
  { "server-4gpu", "server-4gpu", 0 },
  { "Thinkmate GPX-XN4-21S3-4GPU", "server-4gpu", 0 },
  { "900-21001-0020-000", "a100-80gb-pcie", 1 },
  { "900-21001-0020-100", "a100-80gb-pcie", 1 },
  { "900-21010-0040-000", "h200-141gb-nvl", 1 },
  { "935-24287-0301-000", "h100-80gb-sxm", 8 },
  { "935-23587-0000-200", "?a100-40gb-sxm;a100-80gb-sxm", 8 },
  { "900-2G133-A840-000", "", 0 },
  { "NVH100NVLTCGPU-KIT", "h100-94gb-nvl", 1 },
  { "h100-80gb-sxm", "h100-80gb-sxm", 1 },
};

static char *
describe (const QmMatch *match)
{
  switch (match->state)
    {
    case QM_MATCH_FOUND:
      return g_strdup (match->item);
    case QM_MATCH_AMBIGUOUS:
      return g_strconcat ("?", match->candidates, NULL);
    default:
      return g_strdup ("");
    }
}

/* Numbers of lines, which count nothing. */
static const Name positions[] = {
  { "Pos. 2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Pos 2 NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "POS.2 NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Pos. 2 GPU NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Position 2 - NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Pos.-Nr. 3: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Item 2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Item no. 2 NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Line 2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Line 4 NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Lot 2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Los 2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Poste 2 : NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Ligne n° 2 : NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Posición 2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Línea 2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Lote 2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Voce 2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Perceel 2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Poz. 2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Pozycja 2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Artikel 2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Nr. 2 NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "No. 2 NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "2. NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "2) NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "2.) NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "1.2 NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "1.2. NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "#2 NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Option 2: NVIDIA H100 NVL", "h100-94gb-nvl", 1 },
  { "Alternativ zu Pos. 2: NVIDIA L40S 48GB", "l40s", 1 },
  { "Alternativ zu Pos. 2 und 3: NVIDIA L40S 48GB", "l40s", 1 },
  { "Alternative to items 2, 3: NVIDIA L40S 48GB", "l40s", 1 },
  { "Alternative to line 2: NVIDIA L40S 48GB", "l40s", 1 },
  { "En remplacement du poste 1.2 : NVIDIA L40S 48GB", "l40s", 1 },
  { "In alternativa alla voce 2: NVIDIA L40S 48GB", "l40s", 1 },
  { "Zamiennik do poz. 2-3 NVIDIA L40S 48GB", "l40s", 1 },
  { "Ersatz für Pos. 2: NVIDIA L40S 48GB", "l40s", 1 },
  { "Replacement for #2: NVIDIA L40S 48GB", "l40s", 1 },
  { "Pos. 2: NVLink bridge for NVIDIA A100", "", 0 },
  { "NVIDIA L40S 48GB (replaces #4)", "l40s", 1 },
  { "Pos. 2: GPU server with 8x NVIDIA L40S", "l40s", 8 },
  { "Pos. 2: 4 NVIDIA L40S", "l40s", 4 },
  { "2. 8x NVIDIA L40S", "l40s", 8 },
  /* Those count. */
  { "Item 4x NVIDIA L40S", "l40s", 4 },
  { "Item 4 x NVIDIA L40S", "l40s", 4 },
  { "Option 4 NVIDIA L40S", "l40s", 4 },
  { "Todos los 4 NVIDIA L40S", "l40s", 4 },
  { "Lot of 4 NVIDIA L40S", "l40s", 4 },
  { "(2) NVIDIA L40S", "l40s", 2 },
  { "2 NVIDIA L40S", "l40s", 2 },
  { "Nr. 4090: NVIDIA GeForce RTX 4090", "rtx4090", 1 },
};

/* Licences of software for so many GPUs are none. */
static const Name software[] = {
  { "NVIDIA AI Enterprise, je GPU (L40S), 5 Jahre", "", 0 },
  { "NVIDIA AI Enterprise per GPU, L40S, 5 years", "", 0 },
  { "NVIDIA AI Enterprise 5 years per GPU (4x L40S)", "", 0 },
  { "NVIDIA AI Enterprise, par GPU (L40S), 5 ans", "", 0 },
  { "NVIDIA AI Enterprise, por GPU (L40S), 5 años", "", 0 },
  { "NVIDIA AI Enterprise, per GPU (L40S), 5 jaar", "", 0 },
  { "NVIDIA AI Enterprise na GPU (L40S), 5 lat", "", 0 },
  { "NVIDIA AI Enterprise mit NVIDIA L40S", "?l40s", 1 },
  { "NVIDIA AI Enterprise, per GPU (L40S), 5 anni", "", 0 },
  { "5 Jahre NVIDIA AI Enterprise NVIDIA L40S", "", 0 },
  { "NVIDIA AI Enterprise Essentials, Laufzeit fünf Jahre ab Lieferung, "
    "Abrechnung nach Anzahl der verbauten Karten: L40S",
    "", 0 },
  { "NVAIE NVIDIA L40S 5 years", "", 0 },
  { "NVIDIA Omniverse Enterprise, je GPU (L40S), 1 Jahr", "", 0 },
  { "Omniverse Enterprise per GPU L40S", "", 0 },
  { "NVIDIA RTX Virtual Workstation, 1 CCU (L40S)", "", 0 },
  { "Pos. 4: NVIDIA AI Enterprise, je GPU (L40S), 5 Jahre", "", 0 },
  { "NVIDIA L40S, NVIDIA AI Enterprise 5 Jahre", "?l40s", 1 },
  { "NVIDIA vGPU, je GPU (NVIDIA L40S), 5 Jahre", "?l40s", 1 },
  /* Those have it, or may have. */
  { "NVIDIA L40S 48GB incl. NVIDIA AI Enterprise 5 years", "l40s", 1 },
  { "vGPU-fähige NVIDIA L40S 48GB", "l40s", 1 },
  { "NVIDIA AI Enterprise certified NVIDIA L40S 48GB", "l40s", 1 },
  { "GPU server, 4x NVIDIA L40S, NVIDIA AI Enterprise 5 years", "l40s", 4 },
  { "GPU server with NVIDIA AI Enterprise and 4x NVIDIA L40S", "l40s", 4 },
  { "GPU server, NVIDIA AI Enterprise, 4x NVIDIA L40S", "l40s", 4 },
};

/* How many of some names are not what they should be. */
static guint
count_wrong (const Name *list, guint n)
{
  guint wrong = 0;

  for (guint i = 0; i < n; i++)
    {
      g_auto (QmMatch) match = { 0 };
      g_autofree char *is = NULL;

      qm_matcher_match (matcher, NULL, list[i].name, &match);
      is = describe (&match);
      if (strcmp (is, list[i].expected) != 0 || match.gpus != list[i].gpus)
        {
          g_test_message ("“%s” is “%s” x %d, not “%s” x %d", list[i].name, is,
                          match.gpus, list[i].expected, list[i].gpus);
          wrong++;
        }
    }
  return wrong;
}

static void
test_positions (void)
{
  g_assert_cmpuint (count_wrong (positions, G_N_ELEMENTS (positions)), ==, 0);
}

static void
test_names (void)
{
  g_assert_cmpuint (G_N_ELEMENTS (names), >=, 150);
  g_assert_cmpuint (count_wrong (names, G_N_ELEMENTS (names)), ==, 0);
}

static void
test_software (void)
{
  g_assert_cmpuint (count_wrong (software, G_N_ELEMENTS (software)), ==, 0);
}

/* What may be a machine or a service for one is asked about, unless the machine
 * stands in another line: then it is the service. */
static void
test_services (void)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();
  QmQuoteLine *service = qm_quote_add_line (quote, QM_LINE_QUOTED);
  QmQuoteLine *other;

  service->description = g_strdup ("DGX H100 3 years support");
  qm_matcher_apply (matcher, quote);
  g_assert_cmpint (service->match, ==, QM_MATCH_AMBIGUOUS);
  g_assert_cmpstr (service->candidates, ==, "h100-80gb-sxm");

  other = qm_quote_add_line (quote, QM_LINE_QUOTED);
  other->description = g_strdup ("DGX A100 640GB");
  qm_matcher_apply (matcher, quote);
  g_assert_cmpint (service->match, ==, QM_MATCH_AMBIGUOUS);

  g_free (other->description);
  other->description = g_strdup ("NVIDIA DGX H100");
  qm_matcher_apply (matcher, quote);
  g_assert_cmpint (other->match, ==, QM_MATCH_FOUND);
  g_assert_cmpint (service->match, ==, QM_MATCH_NONE);
  g_assert_null (service->candidates);
  g_assert_cmpint (service->gpus, ==, 0);

  /* Two services make no machine. */
  g_free (other->description);
  other->description = g_strdup ("DGX H100 Wartung 36 Monate");
  qm_matcher_apply (matcher, quote);
  g_assert_cmpint (other->match, ==, QM_MATCH_AMBIGUOUS);
  g_assert_cmpint (service->match, ==, QM_MATCH_AMBIGUOUS);
}

/* Every GPU is found by its own name and id. */
static void
test_catalog (void)
{
  size_t n;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n);

  for (size_t i = 0; i < n; i++)
    {
      const char *texts[] = { gpus[i].name, gpus[i].id };

      for (guint j = 0; j < G_N_ELEMENTS (texts); j++)
        {
          g_auto (QmMatch) match = { 0 };

          qm_matcher_match (matcher, NULL, texts[j], &match);
          g_assert_cmpint (match.state, ==, QM_MATCH_FOUND);
          g_assert_cmpstr (match.item, ==, gpus[i].id);
          g_assert_cmpint (match.gpus, ==, 1);
        }
    }
}

/* Every part number that is shipped leads to what its row says. */
static void
test_part_numbers (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("QM_SHIPPED_DATA_DIR"),
                                            "part-numbers.csv", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmSheet) sheet = NULL;
  g_autofree char *text = NULL;
  gsize length;

  g_assert_true (g_file_get_contents (path, &text, &length, &error));
  sheet = qm_sheet_new (text, length, ',', 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (qm_sheet_n_rows (sheet), >, 40);
  for (guint row = 1; row < qm_sheet_n_rows (sheet); row++)
    {
      g_auto (QmMatch) match = { 0 };
      const char *items = qm_sheet_cell (sheet, row, 1);

      qm_matcher_match (matcher, qm_sheet_cell (sheet, row, 0), NULL, &match);
      if (strchr (items, ';') != NULL)
        g_assert_cmpstr (match.candidates, ==, items);
      else if (items[0] != '\0')
        g_assert_cmpstr (match.item, ==, items);
      else
        g_assert_cmpint (match.state, ==, QM_MATCH_NONE);
    }
}

static void
assert_match (const char *part, const char *words, const char *expected)
{
  g_auto (QmMatch) match = { 0 };
  g_autofree char *is = NULL;

  qm_matcher_match (matcher, part, words, &match);
  is = describe (&match);
  g_assert_cmpstr (is, ==, expected);
}

static void
test_part_and_words (void)
{
  assert_match ("900-21001-0020-000", "NVIDIA A100", "a100-80gb-pcie");
  assert_match ("900-21001-0020-000", "GPU", "a100-80gb-pcie");
  assert_match ("900-21001-0020-000", "NVIDIA A100 40GB SXM4",
                "?a100-80gb-pcie;a100-40gb-sxm");
  assert_match ("VCNRTX6000ADA-PB", "RTX A6000 48GB", "?rtx6000-ada;a6000");
  assert_match ("900-21001-0020-000", "Bracket for A100", "");
  assert_match ("ACME-0815", "RTX A6000 48GB", "a6000");
  assert_match ("RTX A6000", "Graphics card", "a6000");
  assert_match (NULL, NULL, "");
  assert_match (NULL, "GPU node\n8x NVIDIA A100 80GB SXM4", "a100-80gb-sxm");
  assert_match (NULL, "NVIDIA A100 80GB\nSXM4 module", "a100-80gb-sxm");
  assert_match (NULL, "NVIDIA H100 80GB PCIe\nfaster than the A100 40GB",
                "h100-80gb-pcie");
}

/* What the user chose stays, the rest is matched anew. */
static void
test_apply (void)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);
  QmQuoteLine *chosen = qm_quote_add_line (quote, QM_LINE_QUOTED);

  line->description = g_strdup ("4x RTX 4090 24GB");
  line->candidates = g_strdup ("a10");
  chosen->description = g_strdup ("RTX 4090");
  chosen->match = QM_MATCH_CHOSEN;
  chosen->item = g_strdup ("a6000");
  qm_matcher_apply (matcher, quote);
  qm_matcher_apply (matcher, quote);
  g_assert_cmpint (line->match, ==, QM_MATCH_FOUND);
  g_assert_cmpstr (line->item, ==, "rtx4090");
  g_assert_cmpint (line->gpus, ==, 4);
  g_assert_null (line->candidates);
  g_assert_cmpint (chosen->match, ==, QM_MATCH_CHOSEN);
  g_assert_cmpstr (chosen->item, ==, "a6000");
}

/* Part numbers of the user's; a broken file is left out whole, by its line, and
 * the shipped ones stay. */
static void
test_files (void)
{
  g_autofree char *directory = g_dir_make_tmp ("qm-match-XXXXXX", NULL);
  g_autofree char *path =
      g_build_filename (directory, "part-numbers.csv", NULL);
  g_autoptr (GArray) problems = g_array_new (FALSE, FALSE, sizeof (QmError));
  g_autoptr (QmMatcher) own = NULL;
  g_auto (QmMatch) match = { 0 };
  const QmError *problem;

  g_assert_true (g_file_set_contents (
      path, "part_number,item,source\nOUR-4711,a6000,us\n", -1, NULL));
  own = qm_matcher_new (catalog, g_getenv ("QM_SHIPPED_DATA_DIR"), directory,
                        problems);
  g_assert_cmpuint (problems->len, ==, 0);
  qm_matcher_match (own, "our-4711", NULL, &match);
  g_assert_cmpstr (match.item, ==, "a6000");
  qm_match_clear (&match);
  qm_matcher_free (g_steal_pointer (&own));

  g_assert_true (g_file_set_contents (
      path,
      "part_number,item,source\nOUR-4712,a6000,us\n900-21001-0020,a6000,us\n"
      "OUR-4711,a6000\n",
      -1, NULL));
  own = qm_matcher_new (catalog, g_getenv ("QM_SHIPPED_DATA_DIR"), directory,
                        problems);
  g_assert_cmpuint (problems->len, ==, 1);
  problem = &g_array_index (problems, QmError, 0);
  g_assert_cmpint (problem->line, ==, 4);
  g_assert_cmpstr (problem->file, ==, path);
  qm_matcher_match (own, "OUR-4712", NULL, &match);
  g_assert_cmpint (match.state, ==, QM_MATCH_NONE);
  qm_match_clear (&match);
  qm_matcher_match (own, "900-21001-0020", NULL, &match);
  g_assert_cmpstr (match.item, ==, "a100-80gb-pcie");
  qm_matcher_free (g_steal_pointer (&own));

  /* Nor does a pipe make anybody wait. */
  g_remove (path);
  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  own = qm_matcher_new (catalog, NULL, directory, problems);
  g_assert_cmpuint (problems->len, ==, 2);
  g_remove (path);
  g_rmdir (directory);
}

/* Nothing that is written makes it stumble. */
static void
test_bad_text (void)
{
  g_autofree char *long_text = g_strnfill (100000, 'x');
  g_autofree char *many = g_strnfill (100000, '8');
  g_auto (QmMatch) match = { 0 };
  GString *words = g_string_new (NULL);

  for (int i = 0; i < 5000; i++)
    g_string_append (words, "8x RTX 4090 ");
  qm_matcher_match (matcher, long_text, many, &match);
  g_assert_cmpint (match.state, ==, QM_MATCH_NONE);
  qm_match_clear (&match);
  qm_matcher_match (matcher, many, words->str, &match);
  g_assert_cmpstr (match.item, ==, "rtx4090");
  g_assert_cmpint (match.gpus, ==, 8);
  g_string_free (words, TRUE);
}

int
main (int argc, char **argv)
{
  const char *directory = g_getenv ("QM_SHIPPED_DATA_DIR");
  int status;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (qm_catalog_load (directory, NULL, &catalog, NULL), ==,
                   QM_OK);
  matcher = qm_matcher_new (catalog, directory, NULL, NULL);
  g_test_add_func ("/match/names", test_names);
  g_test_add_func ("/match/positions", test_positions);
  g_test_add_func ("/match/software", test_software);
  g_test_add_func ("/match/services", test_services);
  g_test_add_func ("/match/catalog", test_catalog);
  g_test_add_func ("/match/part-numbers", test_part_numbers);
  g_test_add_func ("/match/part-and-words", test_part_and_words);
  g_test_add_func ("/match/apply", test_apply);
  g_test_add_func ("/match/files", test_files);
  g_test_add_func ("/match/bad-text", test_bad_text);
  status = g_test_run ();
  qm_matcher_free (matcher);
  qm_catalog_free (catalog);
  return status;
}
