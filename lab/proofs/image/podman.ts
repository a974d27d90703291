import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Path of a program of this machine; `undefined` if it is not installed. */
export const programOf = (name: string): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));

/** Runs a program. @returns what it printed, without the line break at its end */
export async function run(program: string, args: readonly string[], cwd?: string): Promise<string> {
  const { stdout } = await execute(program, args, { maxBuffer: 64 * 1024 * 1024, cwd });
  return stdout.trimEnd();
}

/** A podman whose images and containers are apart from all others of this machine. */
export type Podman = Awaited<ReturnType<typeof startPodman>>;

/** Begins with empty storage. `vfs` and `cgroupfs` need neither kernel modules nor systemd. */
export async function startPodman(program: string) {
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-podman-'));
  const runc = programOf('runc');
  const options = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
  options.push('--storage-driver', 'vfs', '--cgroup-manager', 'cgroupfs');
  // Debian's crun knows no machine that has both versions of cgroups; runc does.
  if (runc !== undefined) options.push('--runtime', runc);
  // Podman raises limits by itself, which not every root may.
  const limits = ['--ulimit', `nofile=${await run('sh', ['-c', 'ulimit -Hn'])}`, '--ulimit', 'nproc=4096'];
  const podman = (...args: readonly string[]): Promise<string> => run(program, [...options, ...args]);

  return {
    podman,
    /** Builds an image as Docker does, of a Dockerfile and the folder that it copies from. */
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
    /** Runs a shell script in an image, and returns what it printed. */
    look: (image: string, script: string) => podman('run', '--rm', ...limits, image, 'sh', '-c', script),
    /**
     * Starts a container with what `deploy/compose.yaml` takes away from it, on the network of this machine. Its health check runs
     * only when it is asked for: podman repeats it with systemd.
     */
    start: (image: string, env: Readonly<Record<string, string>>) =>
      podman(
        ...['run', '--detach', '--network', 'host', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'all'],
        ...['--security-opt', 'no-new-privileges', '--health-interval', 'disable', ...limits],
        ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
        image,
      ),
    /** Runs the health check of a container once, and says whether it passed. */
    isHealthy: (container: string) =>
      podman('healthcheck', 'run', container).then(
        () => true,
        () => false,
      ),
    /** Sends SIGTERM, and SIGKILL after 30 seconds. @returns the exit code */
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
