import { join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

/**
 * Defaults of all documented members outside the options of `createOstiary`, whose defaults stand in one table
 * that the generator of the options page reads.
 */

const root = resolve(import.meta.dirname, '../../..');

type Plain = string | number | boolean;

/** Reads the value that a comment states, or returns `null` if it states none that code could have. */
function statedValue(words: string): Plain | null {
  const [first = ''] = words
    .replaceAll('`', '')
    .replace(/^.*for the client itself /, '')
    .split(/[;:]/);
  const text = first.trim();
  if (text === 'true' || text === 'false') return text === 'true';
  const [, quoted] = /^['"](.*)['"]$/.exec(text) ?? [];
  if (quoted !== undefined) return quoted;
  return /^\d[\d ,]*$/.test(text) ? Number(text.replaceAll(/[ ,]/g, '')) : null;
}

/** Returns the members whose comments state a plain default. */
function statedDefaults(sources: readonly ts.SourceFile[]): Map<ts.Node, Plain> {
  const stated = new Map<ts.Node, Plain>();
  const visit = (node: ts.Node): void => {
    if (ts.isPropertySignature(node)) {
      const tag = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === 'defaultValue');
      const value = tag === undefined ? null : statedValue(ts.getTextOfJSDocComment(tag.comment) ?? '');
      if (value !== null) stated.set(node, value);
    }
    ts.forEachChild(node, visit);
  };
  for (const source of sources) visit(source);
  return stated;
}

/** Returns the value of an expression: a literal, a product of literals, or a constant with such a value. */
function constantOf(checker: ts.TypeChecker, node: ts.Expression): Plain | null {
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isStringLiteralLike(node)) return node.text;
  if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
  if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.AsteriskToken)
    return Number(constantOf(checker, node.left)) * Number(constantOf(checker, node.right));
  if (!ts.isIdentifier(node)) return null;
  const symbol = checker.getSymbolAtLocation(node);
  const origin = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const declaration = origin?.valueDeclaration;
  return declaration && ts.isVariableDeclaration(declaration) && declaration.initializer
    ? constantOf(checker, declaration.initializer)
    : null;
}

/** Returns the member and the default of a node that gives a member a default; `null` for any other node. */
function givenDefault(
  checker: ts.TypeChecker,
  node: ts.Node,
): { readonly member: ts.Symbol | undefined; readonly standard: ts.Expression } | null {
  // const { name = 1 } = options
  if (ts.isBindingElement(node) && node.initializer && ts.isObjectBindingPattern(node.parent)) {
    const name = node.propertyName ?? node.name;
    if (!ts.isIdentifier(name)) return null;
    const type = checker.getNonNullableType(checker.getTypeAtLocation(node.parent.parent));
    return { member: checker.getPropertyOfType(type, name.text), standard: node.initializer };
  }
  // options.name ?? 1
  if (
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken &&
    ts.isPropertyAccessExpression(node.left)
  )
    return { member: checker.getSymbolAtLocation(node.left.name), standard: node.right };
  // isGiven ? options.name : 1
  if (ts.isConditionalExpression(node) && ts.isPropertyAccessExpression(node.whenTrue))
    return { member: checker.getSymbolAtLocation(node.whenTrue.name), standard: node.whenFalse };
  return null;
}

/** Returns the name and the default of a member in a schema, such as `name: z.string().default('')`. */
function schemaDefault(node: ts.Node): { readonly name: string; readonly standard: ts.Expression } | null {
  if (!ts.isPropertyAssignment(node) || !ts.isIdentifier(node.name)) return null;
  let call: ts.Expression = node.initializer;
  while (ts.isCallExpression(call) && ts.isPropertyAccessExpression(call.expression)) {
    const [standard] = call.arguments;
    if (call.expression.name.text === 'default' && standard) return { name: node.name.text, standard };
    call = call.expression.expression;
  }
  return null;
}

test('every default that a comment states is the one that the code uses', { timeout: 120_000 }, () => {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const include = ['packages/*/src', 'examples/*/src'];
  const { fileNames, options } = ts.parseJsonConfigFileContent({ ...config, include }, ts.sys, root);
  const program = ts.createProgram(fileNames, options);
  const checker = program.getTypeChecker();
  const sources = program
    .getSourceFiles()
    .filter(({ fileName }) => /\/(packages|examples)\/[^/]+\/src\//.test(fileName))
    .filter(({ fileName }) => !fileName.includes('node_modules'))
    .filter(({ fileName }) => !fileName.includes('/packages/core/src/options/'));
  const stated = statedDefaults(sources);
  const used = new Map<ts.Node, Plain[]>();
  const use = (member: ts.Node | undefined, standard: ts.Expression): void => {
    const value = constantOf(checker, standard);
    if (member !== undefined && stated.has(member) && value !== null)
      used.set(member, [...(used.get(member) ?? []), value]);
  };
  const visit = (node: ts.Node): void => {
    const given = givenDefault(checker, node);
    if (given !== null) for (const one of given.member?.declarations ?? []) use(one, given.standard);
    const inSchema = schemaDefault(node);
    if (inSchema !== null) {
      const file = node.getSourceFile();
      for (const member of stated.keys())
        if (member.getSourceFile() === file && ts.isPropertySignature(member))
          if (member.name.getText() === inSchema.name) use(member, inSchema.standard);
    }
    ts.forEachChild(node, visit);
  };
  for (const source of sources) visit(source);

  const placeOf = (node: ts.Node): string => {
    const source = node.getSourceFile();
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    return `${relative(root, source.fileName)}:${line + 1}`;
  };
  const wrong = [...stated]
    // A member that is false without a value needs no default in the code.
    .map(([node, value]) => [node, value, used.get(node) ?? (value === false ? [false] : [])] as const)
    .filter(([, value, values]) => values.length === 0 || values.some((one) => one !== value))
    .map(([node, value, values]) => `${placeOf(node)} says ${value}, and the code has ${values.join(', ')}`);
  expect(wrong).toEqual([]);
  expect(stated.size).toBeGreaterThan(50);
});
