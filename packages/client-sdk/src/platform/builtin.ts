/** Modules of Node that this package uses. */
export interface Builtins {
  readonly crypto: typeof import('node:crypto');
  readonly 'fs/promises': typeof import('node:fs/promises');
}

/**
 * Returns a module of Node, or `undefined` on platforms without it. There is no `import()` in this file:
 * bundlers and Miniflare refuse an import whose name they cannot read. The build for Node has
 * `builtin-node.ts` instead, because Node 18 lacks `getBuiltinModule`.
 */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  const { process } = globalThis as {
    readonly process?: { getBuiltinModule?(id: string): Builtins[Name] | undefined };
  };
  return process?.getBuiltinModule?.(`node:${name}`);
}
