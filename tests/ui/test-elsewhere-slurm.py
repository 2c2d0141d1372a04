#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The folder for another machine, as a job of a real Slurm on two nodes, which
are two of its daemons here, on loopback.

usage: test-elsewhere-slurm.py WRITE_FOLDER QM_BENCH

Needs Debian's slurmctld, slurmd, slurm-client and munge, and QM_TEST_FULL=1.
"""

import contextlib
import getpass
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

WRITE, BENCH = (os.path.abspath(path) for path in sys.argv[1:3])
PROGRAMS = ('munged', 'slurmctld', 'slurmd', 'sbatch', 'srun', 'sinfo')
SBIN = os.environ['PATH'] + ':/usr/sbin:/sbin'
SECONDS = 90
SKIPPED = 77

CONFIGURATION = '''
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=256 RealMemory=1000000
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=256 RealMemory=1000000
PartitionName=all Nodes=one,two Default=YES MaxTime=INFINITE State=UP
'''


def free_ports(count):
    servers = [socket.create_server(('127.0.0.1', 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in servers]
    for server in servers:
        server.close()
    return ports


def skip(why):
    print(f'skipped: {why}')
    sys.exit(SKIPPED)


def wait_until(what, found):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if found():
            return
        time.sleep(0.2)
    raise AssertionError(f'{what}: not within {SECONDS} s')


class Cluster:
    """A controller and two nodes, which end with it."""

    def __init__(self, folder, stack):
        self.folder = folder
        self.environment = os.environ | dict(
            PATH=SBIN, SLURM_CONF=str(folder / 'slurm.conf'))
        self.stack = stack
        key = folder / 'munge.key'
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        (folder / 'state').mkdir()
        self.configuration = CONFIGURATION.format(
            host=socket.gethostname().split('.')[0], user=getpass.getuser(),
            folder=folder, ports=free_ports(3))
        (folder / 'slurm.conf').write_text(self.configuration)
        self.start('munged', '--foreground', '--force',
                   f'--socket={folder}/munge.socket', f'--key-file={key}',
                   f'--pid-file={folder}/munge.pid',
                   f'--log-file={folder}/munge.log',
                   f'--seed-file={folder}/munge.seed')
        wait_until('munged', (folder / 'munge.socket').exists)
        self.start('slurmctld', '-D', '-c')
        for node in ('one', 'two'):
            (folder / f'spool-{node}').mkdir()
            self.start('slurmd', '-D', '-N', node)
        wait_until('the nodes', lambda: self.ask(
            'sinfo', '-h', '-N', '-o', '%t').split() == ['idle'] * 2)

    def start(self, *command):
        log = open(self.folder / f'{command[0]}{command[-1]}.out'.replace(
            '/', '_'), 'wb')
        process = subprocess.Popen(command, env=self.environment, stdout=log,
                                   stderr=log)
        log.close()
        self.stack.callback(self.end, process)

    def end(self, process):
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def ask(self, *command, cwd=None):
        done = subprocess.run(command, env=self.environment, text=True,
                              capture_output=True, cwd=cwd)
        return done.stdout if done.returncode == 0 else done.stderr

    def tell(self):
        for path in sorted([*self.folder.glob('*.log'),
                            *self.folder.glob('*.out')]):
            print(f'--- {path.name}\n{path.read_text(errors="replace")[-3000:]}')


def read_results(folder):
    return [json.loads(line)
            for path in (folder / 'results').glob('*.jsonl')
            for line in path.read_text().splitlines()]


def main():
    if os.environ.get('QM_TEST_FULL') != '1':
        skip('takes long; QM_TEST_FULL=1 has it run')
    for program in PROGRAMS:
        if shutil.which(program, path=SBIN) is None:
            skip(f'there is no {program}')
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(
            tempfile.TemporaryDirectory(prefix='quartermaster-slurm-')))
        folder.chmod(0o755)
        job = folder / 'job'
        done = subprocess.run(
            [WRITE, str(job), 'pythia-160m', 'free-lunch', 'cpu', '-', '2'],
            text=True, capture_output=True,
            env=os.environ | dict(QUARTERMASTER_BENCH=BENCH))
        assert done.returncode == 0, done.stderr
        shrink(job)
        cluster = Cluster(folder, stack)
        try:
            measure(cluster, job)
        except AssertionError:
            cluster.tell()
            for log in job.glob('job-*.log'):
                print(f'--- {log.name}\n{log.read_text()[-3000:]}')
            raise


def shrink(job):
    """What takes minutes on a CPU is made to take seconds."""
    for path in (job / 'data' / 'models').glob('pythia-160m.json'):
        model = json.loads(path.read_text())
        config = model.get('config', model)
        config.update(hidden_size=32, num_hidden_layers=1, vocab_size=256,
                      num_attention_heads=4, intermediate_size=64)
        recipe = model.get('recipe', model)
        recipe.update(batch_size=8, sequence_length=16)
        path.write_text(json.dumps(model))


def measure(cluster, job):
    text = cluster.ask('sbatch', '--parsable', '--mem=1G', '--cpus-per-task=1',
                       'job.sbatch', cwd=job)
    assert text.strip().isdigit(), text
    number = text.strip()
    wait_until('the job', lambda: number not in cluster.ask(
        'squeue', '-h', '-o', '%i').split())
    log = (job / f'job-{number}.log').read_text()
    results = read_results(job)
    assert results, log
    for result in results:
        assert result['nodes'] == 2, result
        assert result['gpus'] == 2, result
        assert result['status'] == 'measured', result
        assert result['transport'] == 'sockets', result
    # What is known is not measured again.
    text = cluster.ask('sbatch', '--parsable', '--wait', '--mem=1G',
                       '--cpus-per-task=1', 'job.sbatch', cwd=job)
    assert text.strip().isdigit(), text
    assert read_results(job) == results
    print(f'{len(results)} results of two nodes')


if __name__ == '__main__':
    main()
