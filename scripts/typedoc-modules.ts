/**
 * Plug-in of typedoc that uses the `exports` of every package as modules, each named as readers import it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Application, type Context, Converter, type DeclarationReflection } from 'typedoc';

const packages = resolve(import.meta.dirname, '../packages');

/** Returns the import specifiers of all packages, by source file. */
function specifiers(): ReadonlyMap<string, string> {
  const bySource = new Map<string, string>();
  for (const folder of readdirSync(packages)) {
    const manifest: { name: string; exports: { readonly [subpath: string]: unknown } } = JSON.parse(
      readFileSync(join(packages, folder, 'package.json'), 'utf8'),
    );
    for (const [subpath, target] of Object.entries(manifest.exports)) {
      if (typeof target !== 'object' || target === null || !('ostiary-source' in target)) continue;
      bySource.set(join(packages, folder, String(target['ostiary-source'])), join(manifest.name, subpath));
    }
  }
  return bySource;
}

/** Function that typedoc calls when it loads this plug-in. */
export function load(app: Application): void {
  const bySource = specifiers();
  app.on(Application.EVENT_BOOTSTRAP_END, () => app.options.setValue('entryPoints', [...bySource.keys()]));
  app.converter.on(
    Converter.EVENT_CREATE_DECLARATION,
    (context: Context, reflection: DeclarationReflection) => {
      const [file] = reflection.kindOf(2)
        ? (context.getSymbolFromReflection(reflection)?.declarations ?? [])
        : [];
      const specifier = bySource.get(file?.getSourceFile().fileName ?? '');
      if (specifier !== undefined) reflection.name = specifier;
    },
  );
}
