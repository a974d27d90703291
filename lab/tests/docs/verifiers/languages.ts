import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Vector } from '../../../../packages/webhook-verifier/test/vectors/vectors.ts';
import { blocksOf, root } from '../../../support/documentation.ts';

const run = promisify(execFile);

// Without the JVM's optimising compiler, because these programs are short-lived.
const inHaste = '-XX:TieredStopAtLevel=1';
const env = { ...process.env, MAVEN_OPTS: `${process.env.MAVEN_OPTS ?? ''} ${inHaste}` };

/** Error if a toolchain is missing or a registry unreachable, which is not a fault of a verifier. */
export class NotHere extends Error {}

/** Matches errors of cargo and Maven when their package registry is unreachable. */
const unreachable =
  /could ?n[o']t resolve host|unknown host|failed to connect|connection refused|timed? ?out|network is unreachable/i;

/**
 * Runs a command to its end. @throws NotHere if the program is not installed, or a dependency cannot be
 * fetched
 */
async function execute(command: string, cwd: string, input = ''): Promise<string> {
  const running = run('sh', ['-c', command], { cwd, env });
  // Ignore write errors: a program that is missing or has ended reads no input.
  running.child.stdin?.on('error', () => undefined).end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    const { code, message, stdout } = error as Error & { readonly code: unknown; readonly stdout: string };
    const [program] = command.split(' ');
    // 127 is the shell's exit code for a missing program.
    if (code === 127) throw new NotHere(`${program} is not installed`);
    // rustup installs wrappers even without a toolchain.
    if (message.includes('rustup could not choose a version'))
      throw new NotHere(`${program} has no toolchain`);
    const said = `${message}\n${stdout}`;
    if (unreachable.test(said)) throw new NotHere(`${program} cannot reach its registry`);
    throw new Error(said, { cause: error });
  }
}

/** Language of a webhook verifier, with the commands that build and run the verifier. */
interface Language {
  /** Name of the language as in the heading on the page. In lower case the name marks the code blocks. */
  readonly name: string;
  /** Path to which the verifier's code block is written. */
  readonly verifier: string;
  /** Program beside this file that runs the verifier, and the path to which the program is copied. */
  readonly runner: readonly [file: string, target: string];
  /** Additional files of the language's project, by name. */
  readonly project?: (page: string) => { readonly [file: string]: string };
  /** Command that fetches the verifier's dependencies, and the project file that lists the dependencies. */
  readonly fetch?: { readonly command: string; readonly file: string };
  /** Commands that compile the verifier; for some languages the commands also fetch dependencies. */
  readonly build?: readonly string[];
  readonly run: string;
}

/**
 * Maven goal with its version. Without a version Maven searches for the latest version, and without a network
 * it only reports that there is no such plug-in.
 */
const copyDependencies = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

const pom = (dependencies: string): string => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>receiver</groupId>
  <artifactId>receiver</artifactId>
  <version>0</version>
  <dependencies>${dependencies}</dependencies>
</project>
`;

export const languages: readonly Language[] = [
  {
    name: 'Python',
    verifier: 'webhook.py',
    runner: ['run.py', 'run.py'],
    run: 'python3 -W error run.py',
  },
  {
    name: 'Go',
    verifier: 'webhook/webhook.go',
    runner: ['main.go', 'main.go'],
    project: () => ({ 'go.mod': 'module receiver\n\ngo 1.21\n' }),
    build: [`go build '-gcflags=all=-N -l' '-ldflags=-s -w' -o receiver .`],
    run: './receiver',
  },
  {
    name: 'Rust',
    verifier: 'src/webhook.rs',
    runner: ['main.rs', 'src/main.rs'],
    project: (page) => ({
      'Cargo.toml': `[package]\nname = "receiver"\nedition = "2021"\n\n[profile.dev]\ndebug = false\n\n${blocksOf(page, 'toml').join('\n')}`,
    }),
    build: ['cargo fetch', 'cargo build --offline'],
    run: 'target/debug/receiver',
  },
  {
    name: 'Java',
    verifier: 'Webhook.java',
    runner: ['Run.java', 'Run.java'],
    project: (page) => ({ 'pom.xml': pom(blocksOf(page, 'xml').join('\n')) }),
    fetch: { command: `mvn -q -B ${copyDependencies} -DoutputDirectory=lib`, file: 'pom.xml' },
    build: [`javac -J${inHaste} -Xlint:all -Werror -cp 'lib/*' -d classes Webhook.java Run.java`],
    run: `java ${inHaste} -cp 'classes:lib/*' Run`,
  },
  {
    name: 'PHP',
    verifier: 'webhook.php',
    runner: ['run.php', 'run.php'],
    run: 'php run.php',
  },
  {
    name: 'Ruby',
    verifier: 'webhook.rb',
    runner: ['run.rb', 'run.rb'],
    run: 'ruby -w run.rb',
  },
];

const hex = (text: string): string => Buffer.from(text).toString('hex');

/**
 * Formats a delivery for the runners: secret, time, body and headers, without characters that could end a
 * field.
 */
function lineOf({ secrets, now, body, headers }: Vector): string {
  const given = Object.entries(headers).map(([name, value]) => `${name}:${hex([value].flat().join(', '))}`);
  return [hex(secrets[0] ?? ''), now, Buffer.from(body, 'base64').toString('hex'), ...given].join(' ');
}

/**
 * Returns the verdict of the page's verifier on each delivery: `accepted` with the id of the delivery's
 * event, or `refused`.
 * @throws NotHere if the toolchain is missing
 * @throws Error with the output of the compiler or the program if it does not compile, or ends without a
 * verdict
 */
export async function verdictsOf(
  language: Language,
  page: string,
  deliveries: readonly Vector[],
): Promise<string[]> {
  const name = language.name.toLowerCase();
  // The folder is kept between runs, because compiling the dependencies takes most of the time.
  const cwd = join(root, 'node_modules/.cache/docs-verifiers', name);
  const [runner, target] = language.runner;
  const files = {
    ...language.project?.(page),
    [language.verifier]: blocksOf(page, name).join('\n'),
  };
  for (const [file, content] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, file)), { recursive: true });
    await writeFile(join(cwd, file), content);
  }
  await copyFile(join(import.meta.dirname, runner), join(cwd, target));
  if (language.fetch !== undefined) {
    const { command, file } = language.fetch;
    // Copy of the project file at the last fetch: fetch again if it differs.
    const fetched = join(cwd, `${file}.fetched`);
    const [wanted, before] = await Promise.all([
      readFile(join(cwd, file), 'utf8'),
      readFile(fetched, 'utf8').catch(() => null),
    ]);
    if (wanted !== before) {
      await execute(command, cwd);
      await writeFile(fetched, wanted);
    }
  }
  for (const command of language.build ?? []) await execute(command, cwd);
  const said = await execute(
    language.run,
    cwd,
    deliveries.map((delivery) => `${lineOf(delivery)}\n`).join(''),
  );
  return said.trimEnd().split('\n');
}
