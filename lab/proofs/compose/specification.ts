import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { composeProject, composeText, deployFolder, exampleSettings } from '../../support/compose/project.ts';
import { programOf, run } from '../../support/program.ts';
import { type Claim, claim } from '../../support/proof.ts';

/** Program of the library with which Docker Compose reads its files. */
const composeGo = 'github.com/compose-spec/compose-go/v2/cmd@v2.16.2';

/**
 * Checks the compose file with compose-go, and compares the services that compose-go and the tests read. The settings are
 * filled in before, because the program of compose-go does not read them from its environment.
 */
export async function proveSpecification(): Promise<Claim[]> {
  if (programOf('go') === undefined) {
    console.log('skipped: Go is needed to check the compose file with compose-go');
    return [];
  }
  const settings = exampleSettings();
  // Beside the compose file, whose paths are relative.
  const file = join(deployFolder, '.compose-filled-in.yaml');
  await writeFile(file, composeText(settings));
  const check = run('go', ['run', composeGo, '-format', 'json', file]);
  const [found, problem] = await check.then(
    (output) => [Object.keys(JSON.parse(output).services).toSorted().join(), ''],
    (error) => ['', String(error.stderr)],
  );
  await rm(file);
  const wanted = Object.keys(composeProject(settings).services).toSorted().join();
  return [
    claim('compose-go, the library of Docker Compose, accepts the file', found === wanted, problem || found),
  ];
}
