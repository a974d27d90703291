import { parseArgs } from 'node:util';
import { type Choices, frameworks, languagesOf, oneOf, Refusal, storages } from './choices.ts';

/**
 * Parsed command line. `given` contains only the choices that were typed; the program asks for the others, or
 * takes their defaults.
 */
export interface Arguments {
  readonly given: Partial<Choices>;
  /** True to take the default for every missing choice instead of asking. */
  readonly yes: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

const options = {
  framework: { type: 'string' },
  storage: { type: 'string' },
  languages: { type: 'string' },
  mcp: { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // Cut off the end of Node's message: it suggests how to escape the argument, which does not help here.
    const [said = ''] = error instanceof Error ? error.message.split(/\. To specify|\.?\n|\.$/) : [];
    throw new Refusal(`${said}; see --help`);
  }
}

/** Parses the command line. @throws Refusal for an argument or value that it does not accept */
export function parseArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parsed(args);
  const [folder, ...more] = positionals;
  if (more.length > 0)
    throw new Refusal(
      `one folder at a time, and not also ${more.join(', ')}; options of npm create come after --`,
    );
  const { framework, storage, languages, mcp, yes = false, help = false, version = false } = values;
  return {
    given: {
      ...(folder !== undefined && { folder }),
      ...(framework !== undefined && { framework: oneOf(frameworks, framework, 'the framework') }),
      ...(storage !== undefined && { storage: oneOf(storages, storage, 'the storage') }),
      ...(languages !== undefined && { languages: languagesOf(languages) }),
      ...(mcp !== undefined && { mcp }),
    },
    yes,
    help,
    version,
  };
}
