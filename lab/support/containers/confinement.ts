/** Folders of a container that the server might write to. */
const folders = ['/', '/tmp', '/data', '/server', '/etc', '/run/secrets/ostiary'];

/**
 * Arguments of a container's command that prints the rights of process 1, its command, and each folder that can be
 * written to. Node runs the script, because the image has no shell.
 */
export const inspectConfinement = [
  'node',
  '-e',
  `const { readFileSync, rmSync, writeFileSync } = fs;
  console.log(readFileSync('/proc/1/status', 'utf8').match(/^(?:Uid|Gid|CapEff|NoNewPrivs):.*$/gm).join('\\n'));
  console.log(readFileSync('/proc/1/cmdline', 'utf8').split('\\0').join(' '));
  for (const folder of ${JSON.stringify(folders)}) {
    try {
      writeFileSync(folder + '/mine', '');
      rmSync(folder + '/mine');
      console.log('writes to ' + folder);
    } catch {}
  }`,
];
