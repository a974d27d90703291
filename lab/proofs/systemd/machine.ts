import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyCheckout } from '../../support/checkout.ts';
import { certificates, makeDebian } from '../../support/containers/debian.ts';
import { npmLinks, writeNode } from '../../support/containers/node.ts';
import type { Podman } from '../../support/containers/podman.ts';
import { run } from '../../support/program.ts';

const image = 'localhost/ostiary-machine';
const container = 'machine';
/** Folder of the checkout on the new machine. */
const checkout = '/root/ostiary';
/** Tag of the version to which the proof updates. */
export const tag = 'v0.0.1';

const packages = [
  ...['caddy', 'curl', 'dbus', 'git', 'iproute2', 'libstdc++6', 'openssl', 'procps'],
  ...['systemd', 'systemd-sysv', 'xz-utils'],
];

/** npm, in the folder of an installation of Node with a package manager. */
const npm = { package: 'npm@11', folder: 'usr/lib/node_modules/npm', links: npmLinks };

/** Writes a checkout of the repository, whose origin has a tag that the checkout does not have. */
async function writeCheckout(root: string): Promise<void> {
  const origin = join(root, 'root/origin');
  await copyCheckout(origin);
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=proof', '-c', 'user.email=proof@localhost', ...args], origin);
  await git('init', '--quiet');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'the working tree');
  await git('clone', '--quiet', origin, join(root, checkout));
  await git('tag', tag);
  await run('git', ['remote', 'set-url', 'origin', '/root/origin'], join(root, checkout));
}

/** Makes the file system of a new Debian machine. */
async function makeImage(machine: Podman, folder: string): Promise<void> {
  const files = join(folder, 'files');
  await mkdir(join(files, 'root'), { recursive: true });
  await writeCheckout(files);
  await writeNode(files, 'usr/bin', [npm], folder);
  await makeDebian(machine, { image, release: 'bookworm', packages, hooks: [`sync-in ${files} /`] }, folder);
}

/** A machine whose process 1 is systemd, with a checkout of the repository. */
export type Machine = Awaited<ReturnType<typeof startMachine>>;

/** Makes and starts a machine without a network; only the addresses of the machine itself respond. */
export async function startMachine(engine: Podman, folder: string) {
  const { podman, limits } = engine;
  await makeImage(engine, folder);
  const options = ['--detach', '--systemd=always', '--privileged', '--network', 'none', ...limits];
  await podman('run', ...options, '--name', container, image, '/sbin/init');
  const shell = (script: string) =>
    podman('exec', '--workdir', checkout, container, 'bash', '-euo', 'pipefail', '-c', script);
  const pid = await podman('inspect', '--format', '{{.State.Pid}}', container);
  const resolver = Buffer.from(await readFile('/etc/resolv.conf')).toString('base64');
  await shell(`base64 --decode <<< ${resolver} > /etc/resolv.conf`);
  return {
    /** Runs commands in the checkout. @returns the output @throws Error if a command fails */
    shell,
    /** Runs commands in the checkout, with the network of this machine. */
    shellOnline: (script: string) =>
      run('nsenter', [
        ...['--target', pid, '--mount', '--uts', '--ipc', '--pid', '--root', '--wd', 'env', '-i'],
        ...['PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root', `NODE_EXTRA_CA_CERTS=${certificates}`],
        ...['bash', '-euo', 'pipefail', '-c', `cd ${checkout}\n${script}`],
      ]),
    /** Writes a file. */
    write: (file: string, text: string) =>
      shell(`base64 --decode <<< ${Buffer.from(text).toString('base64')} > ${file}`),
  };
}
