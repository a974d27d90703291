import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programOf } from '../../support/program.ts';

const execute = promisify(execFile);

/** Runs a program. @returns the program's output without the last line break */
export async function run(program: string, args: readonly string[], cwd?: string): Promise<string> {
  const { stdout } = await execute(program, args, { maxBuffer: 64 * 1024 * 1024, cwd });
  return stdout.trimEnd();
}

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

  return {
    ...{ program, options, podman, limits },
    /** Builds an image from a Dockerfile and its context folder, as Docker does. */
    build: (image: string, file: string, context: string, ...more: readonly string[]) =>
      podman(
        ...[
          'build',
          '--isolation',
          'chroot',
          '--layers=false',
          '--pull=never',
          '--format',
          'docker',
          '--quiet',
        ],
        ...['--file', file, '--tag', image, ...more, context],
      ),
    /** Runs a shell script in a container image, and returns the script's output. */
    look: (image: string, script: string) => podman('run', '--rm', ...limits, image, 'sh', '-c', script),
    /**
     * Starts a container with the restrictions of `deploy/compose.yaml`, on the network of this machine. The
     * container's health check only runs on request, because podman would need systemd to repeat the check.
     */
    start: (image: string, env: Readonly<Record<string, string>>) =>
      podman(
        ...['run', '--detach', '--network', 'host', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'all'],
        ...['--security-opt', 'no-new-privileges', '--health-interval', 'disable', ...limits],
        ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
        image,
      ),
    /** Runs the health check of a container once, and returns whether the check passed. */
    isHealthy: (container: string) =>
      podman('healthcheck', 'run', container).then(
        () => true,
        () => false,
      ),
    /**
     * Stops a container with SIGTERM, and after 30 seconds with SIGKILL. @returns the container's exit code
     */
    async stop(container: string): Promise<number> {
      await podman('stop', '--time', '30', container);
      return Number(await podman('inspect', '--format', '{{.State.ExitCode}}', container));
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await podman('rm', '--all', '--force', '--time', '0', '--volumes');
      await podman('rmi', '--all', '--force');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
