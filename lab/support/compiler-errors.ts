import { dirname } from 'node:path';
import ts from 'typescript';

/**
 * Compiles TypeScript files that are not on the disk, by their paths, and returns the compiler's errors in them. The files
 * that they import are on the disk, or are among them.
 * @returns the error texts by path, without the files that have no errors
 */
export function compilerErrors(
  files: ReadonlyMap<string, string>,
  options: ts.CompilerOptions,
): { readonly [path: string]: readonly string[] } {
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile, directoryExists = () => true } = host;
  const folders = new Set(Array.from(files.keys(), (name) => dirname(name)));
  host.directoryExists = (name) => folders.has(name) || directoryExists(name);
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name) ?? readFile(name);
  host.getSourceFile = (name, language) => {
    const text = files.get(name);
    return text === undefined ? getSourceFile(name, language) : ts.createSourceFile(name, text, language);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  const errors = Array.from(files.keys(), (name): [string, string[]] => [
    name,
    // Check these files only: the imported sources are checked elsewhere, and would take most of the time.
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(name))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
  ]);
  return Object.fromEntries(errors.filter(([, texts]) => texts.length > 0));
}
