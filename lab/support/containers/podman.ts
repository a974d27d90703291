import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programOf, run } from '../program.ts';

/** A podman whose images and containers are separate from all others on this machine. */
export type Podman = Awaited<ReturnType<typeof startPodman>>;

/**
 * Starts podman with empty storage. `cgroupfs` does not need systemd.
 * @param driver - storage driver; `vfs` needs no kernel modules, and `overlay` shares the layers of images
 */
export async function startPodman(program: string, driver: 'vfs' | 'overlay' = 'vfs') {
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-podman-'));
  const runc = programOf('runc');
  const options = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
  options.push('--storage-driver', driver, '--cgroup-manager', 'cgroupfs');
  // Debian's crun does not support machines with both versions of cgroups; runc does.
  if (runc !== undefined) options.push('--runtime', runc);
  // Podman raises these limits by default, which not every root user may.
  const limits = ['--ulimit', `nofile=${await run('sh', ['-c', 'ulimit -Hn'])}`, '--ulimit', 'nproc=4096'];
  const podman = (...args: readonly string[]): Promise<string> => run(program, [...options, ...args]);

  const building = ['--isolation', 'chroot', '--layers=false', '--pull=never', '--format', 'docker'];

  return {
    ...{ program, options, podman, limits },
    /** Builds an image from a Dockerfile and its context folder, as Docker does. */
    build: (image: string, file: string, context: string, ...more: readonly string[]) =>
      podman('build', ...building, '--quiet', '--file', file, '--tag', image, ...more, context),
    /**
     * Writes a program `docker` that runs this podman, so that commands of the documentation run unchanged.
     * @returns the folder of the program
     */
    async writeDocker(): Promise<string> {
      const bin = join(folder, 'bin');
      await mkdir(bin);
      const lines = [
        '#!/bin/sh',
        'name=$1; shift',
        'case $name in',
        // The base image is not pulled again, because it may have been made on this machine.
        `  build) [ "$1" != --pull ] || shift; set -- ${building.join(' ')} --quiet "$@" ;;`,
        `  run) set -- --network host ${limits.join(' ')} "$@" ;;`,
        // Docker prints the digest of what it pushed.
        `  push) set -- --quiet --tls-verify=false --digestfile ${join(bin, 'digest')} "$@" ;;`,
        'esac',
        `${[program, ...options].join(' ')} "$name" "$@" || exit`,
        `[ "$name" != push ] || cat ${join(bin, 'digest')}`,
      ];
      await writeFile(join(bin, 'docker'), `${lines.join('\n')}\n`, { mode: 0o755 });
      return bin;
    },
    /** Writes the files of an image into a folder. */
    async exportTo(image: string, target: string): Promise<void> {
      const container = await podman('create', '--no-healthcheck', image, 'none');
      const archive = join(folder, 'exported.tar');
      await podman('export', '--output', archive, container);
      await mkdir(target, { recursive: true });
      await run('tar', ['--extract', '--no-same-owner', '--file', archive, '--directory', target]);
      await rm(archive);
      await podman('rm', container);
    },
    /**
     * Starts a container with the restrictions of `deploy/compose.yaml`, on the network of this machine. The
     * container's health check only runs on request, because podman would need systemd to repeat the check.
     */
    start: (image: string, env: Readonly<Record<string, string>>, ...more: readonly string[]) =>
      podman(
        ...['run', '--detach', '--network', 'host', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'all'],
        ...['--security-opt', 'no-new-privileges', '--health-interval', 'disable', ...limits],
        ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
        ...[...more, image],
      ),
    /** Runs the health check of a container once, and returns whether the check passed. */
    isHealthy: (container: string) =>
      podman('healthcheck', 'run', container).then(
        () => true,
        () => false,
      ),
    /**
     * Stops a container with a signal, and after 30 seconds with SIGKILL. @returns the container's exit code
     */
    async stop(container: string, signal = 'SIGTERM'): Promise<number> {
      const killing = setTimeout(() => void podman('kill', container).catch(() => undefined), 30_000);
      await podman('kill', '--signal', signal, container);
      const code = await podman('wait', container);
      clearTimeout(killing);
      return Number(code);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await podman('rm', '--all', '--force', '--time', '0', '--volumes');
      await podman('rmi', '--all', '--force');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
