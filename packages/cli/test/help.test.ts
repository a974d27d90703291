import { PassThrough } from 'node:stream';
import { styleText } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { argumentsOf } from '../src/arguments.ts';
import { administrationCommands, type Commands } from '../src/index.ts';
import { read } from '../src/program.ts';
import { terminal, wordsOf } from './support.ts';

const { run } = await terminal();
const names = Object.keys(administrationCommands);
const quiet = { program: 'ostiary', version: '1', out: () => undefined, err: () => undefined };

describe('help', () => {
  it('lists every noun with its verbs, and every verb with its description', async () => {
    const { code, out } = await run('help');
    expect(code).toBe(0);
    for (const [noun, all] of Map.groupBy(names, (name) => name.split(' ')[0] ?? '')) {
      expect(out).toMatch(new RegExp(`^  ${noun} `, 'm'));
      const page = await run(`help ${noun}`);
      expect(page).toMatchObject({ code: 0, err: '', out: (await run(`${noun} --help`)).out });
      for (const name of all)
        expect(page.out.replaceAll(/\s+/g, ' ')).toContain(administrationCommands[name]?.about);
    }
  });

  it('does not take the name behind --actor for a command', async () => {
    for (const line of ['help', '--help', 'help keys', 'keys --help', 'keys issue --help'])
      expect(await run(`${line} --actor root`)).toMatchObject({ code: 0, out: (await run(line)).out });
  });

  it.each(names)(
    'of %s says what it takes, what it must have, what it is otherwise, and an example',
    async (name) => {
      const command = administrationCommands[name];
      const { code, out } = await run(`${name} --help`);
      expect(code).toBe(0);
      const [required = '', optional = ''] = out.split('\nOptions:');
      const words = out.replaceAll(/\s+/g, ' ');
      for (const [flag, { required: isRequired, default: unless, oneOf = [] }] of Object.entries(
        command?.flags ?? {},
      )) {
        expect(isRequired === true ? required : optional).toMatch(new RegExp(`^  --${flag}\\b`, 'm'));
        if (unless !== undefined) expect(words).toContain(`(default: ${unless})`);
        for (const word of oneOf) expect(words).toContain(word);
      }
      for (const positional of command?.positionals ?? []) expect(required).toContain(`<${positional}>`);
      // The command line accepts the example of the help.
      const example = `ostiary ${name} ${command?.example}`.trim();
      expect(out).toContain(`Example:\n  ${example}\n`);
      const line = read(administrationCommands, wordsOf(example).slice(1), quiet);
      expect(line).toMatchObject({ name, command });
    },
  );

  it('is shown without a command, which is an error, and for a noun alone', async () => {
    expect(await run('')).toMatchObject({ code: 2, out: '', err: (await run('--help')).out });
    expect(await run('keys')).toMatchObject({ code: 2, out: '', err: (await run('keys --help')).out });
    const { err } = await run('keys --json');
    expect(JSON.parse(err).error).toMatchObject({ code: 'usage', message: 'a command is missing' });
  });

  it('says the version: that of the host, or that of the package', async () => {
    expect(await run('--version', { version: '7.1.0' })).toMatchObject({ code: 0, out: '7.1.0\n', err: '' });
    expect((await run('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('the declaration of a flag', () => {
  const commands: Commands = {
    try: {
      about: 'try',
      flags: {
        many: { type: 'string', multiple: true, about: 'many', oneOf: ['a', 'b'] },
        count: { type: 'string', about: 'how many', is: 'whole number', default: '7' },
        own: { type: 'string', about: 'undeclared' },
      },
      run: async (_, args) => {
        const own = args.integer('own');
        const json = { many: args.list('many'), count: args.integer('count'), own: own ?? null };
        return { text: 'tried', json };
      },
    },
  };

  it('determines the values that the command gets', async () => {
    expect((await run('try --json', { commands })).json()).toEqual({ many: [], count: 7, own: null });
    // The last flag counts, and a list may be separated by commas or spaces.
    const line = 'try --many a,b --many "a b" --count x --count 2 --own 4 --own 3 --json';
    expect((await run(line, { commands })).json()).toEqual({ many: ['a', 'b', 'a', 'b'], count: 2, own: 3 });
    const wrong = await run('try --many a,c --many d --count x', { commands });
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain(
      '--many must be a or b, not "c" and "d"\n--count must be a whole number, not "x"\n',
    );
    expect((await run('try --own x', { commands })).err).toContain('--own must be a whole number, not "x"');
    expect((await run('try --own 1000000000', { commands })).err).toContain('must be a whole number');
    expect((await run('try --own=-1', { commands })).err).toContain('--own must be a whole number, not "-1"');
  });

  it('applies to arguments that a host reads itself', () => {
    const typed = { positionals: [], given: new Map([['mode', ['dead']]]) };
    const args = argumentsOf({ about: '' }, typed, false);
    expect(() => args.oneOf('mode', ['live', 'test'])).toThrow('--mode must be live or test, not "dead"');
    expect(() => args.time('mode')).toThrow('must be a time');
    expect(() => args.required('name')).toThrow('--name is missing');
  });

  it.each([
    '2030-02-30',
    '2030-02-29T12:00:00Z',
    '2030-04-31 12:00',
    '2030-01-31T25:00Z',
    '31 Feb 2030',
    '99',
  ])('refuses %s as a time', (typed) => {
    const args = argumentsOf({ about: '' }, { positionals: [], given: new Map([['at', [typed]]]) }, false);
    expect(() => args.time('at')).toThrow(
      `--at must be a time on a day that exists, such as 2030-01-31T00:00:00Z, not "${typed}"`,
    );
  });

  it.each([
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2030-01-31T23:30:00-05:00', '2030-02-01T04:30:00.000Z'],
    ['2030-01-31 12:00:00.5Z', '2030-01-31T12:00:00.500Z'],
  ])('reads %s as a time', (typed, time) => {
    const args = argumentsOf({ about: '' }, { positionals: [], given: new Map([['at', [typed]]]) }, false);
    expect(args.time('at')?.toISOString()).toBe(time);
  });
});

/** Makes a stream that pretends to be a terminal. */
function screen(isTTY: boolean) {
  let text = '';
  const stream = Object.assign(new PassThrough(), {
    isTTY,
    getColorDepth: () => ('NO_COLOR' in process.env ? 1 : 24),
  });
  stream.on('data', (chunk) => {
    text += chunk;
  });
  return { stream, text: () => text };
}

describe('colours', () => {
  const bold = styleText('bold', 'SLUG', { validateStream: false }).slice(0, 4);

  it('are for terminals, not for pipes, and not with NO_COLOR', async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('FORCE_COLOR', undefined);
    vi.stubEnv('NO_COLOR', undefined);
    const shown = async (isTTY: boolean, line: string) => {
      const [out, err] = [screen(isTTY), screen(isTTY)];
      await run(line, { stdout: out.stream, stderr: err.stream });
      return out.text() + err.text();
    };
    for (const line of ['partners list', 'help', 'partners create']) {
      expect(await shown(true, line)).toContain('\u001b[');
      expect(await shown(false, line)).not.toContain('\u001b');
    }
    expect(await shown(true, 'partners list')).toContain(bold);
    expect(await shown(true, 'partners list --json')).not.toContain('\u001b');
    vi.stubEnv('NO_COLOR', '1');
    expect(await shown(true, 'partners list')).not.toContain('\u001b');
  });
});
