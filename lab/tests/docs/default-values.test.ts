import { join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

/**
 * Defaults of all documented members outside the options of `createOstiary`. The options' defaults stand in
 * one table that the generator of the options page reads.
 */

const root = resolve(import.meta.dirname, '../../..');

type Plain = string | number | boolean;

/** Members without a default in the code, because the code only tests for another value. */
const absent: ReadonlySet<string> = new Set(['loopbackPorts', 'wrongPath', 'isLogged']);

/**
 * Reads the default values that a comment states: one value, or several values for different calls. The
 * result is empty if none is a plain value.
 */
function statedValues(words: string): Plain[] {
  const text = words.replaceAll('`', '').trim();
  const numbers = text.match(/\d[\d ,]*/g) ?? [];
  if (/^(\d[\d ,]*$|the client's[,;])/.test(text))
    return numbers.map((one) => Number(one.replaceAll(/[ ,]/g, '')));
  const [first = ''] = text.split(/[;:]/);
  if (first === 'true' || first === 'false') return [first === 'true'];
  const [, quoted] = /^['"](.*)['"]$/.exec(first) ?? [];
  return quoted === undefined ? [] : [quoted];
}

/** Returns the members whose comments state a plain default value. */
function statedDefaults(sources: readonly ts.SourceFile[]): Map<ts.PropertySignature, Plain[]> {
  const stated = new Map<ts.PropertySignature, Plain[]>();
  const visit = (node: ts.Node): void => {
    if (ts.isPropertySignature(node)) {
      const tag = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === 'defaultValue');
      const values = statedValues(ts.getTextOfJSDocComment(tag?.comment) ?? '');
      if (values.length > 0) stated.set(node, values);
    }
    ts.forEachChild(node, visit);
  };
  for (const source of sources) visit(source);
  return stated;
}

/**
 * Returns the value of an expression: a literal, a product of literals, or a constant with such a value;
 * `null` for any other expression.
 */
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

/** A default value in the code: the name of a member, and the member itself if its type is known. */
interface Given {
  readonly name: string;
  readonly member?: ts.Symbol | undefined;
  readonly standard: ts.Expression;
}

/** Returns the name and the default value of a member in a schema, such as `name: z.string().default('')`. */
function schemaDefault(node: ts.Node): Given | null {
  if (!ts.isPropertyAssignment(node) || !ts.isIdentifier(node.name)) return null;
  let call: ts.Expression = node.initializer;
  while (ts.isCallExpression(call) && ts.isPropertyAccessExpression(call.expression)) {
    const [standard] = call.arguments;
    if (call.expression.name.text === 'default' && standard) return { name: node.name.text, standard };
    call = call.expression.expression;
  }
  return null;
}

/**
 * Returns the default value that a syntax node gives to a member or a parameter; `null` for any other node.
 */
function givenDefault(checker: ts.TypeChecker, node: ts.Node): Given | null {
  // const { name = 1 } = options
  if (ts.isBindingElement(node) && node.initializer && ts.isObjectBindingPattern(node.parent)) {
    const name = node.propertyName ?? node.name;
    if (!ts.isIdentifier(name)) return null;
    const { parent } = node.parent;
    const source = ts.isVariableDeclaration(parent) && parent.initializer ? parent.initializer : parent;
    const type = checker.getNonNullableType(checker.getTypeAtLocation(source));
    const member = checker.getPropertyOfType(type, name.text);
    return { name: name.text, member, standard: node.initializer };
  }
  // (name = 1) => …
  if (ts.isParameter(node) && node.initializer && ts.isIdentifier(node.name))
    return { name: node.name.text, standard: node.initializer };
  // options.name ?? 1
  if (
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken &&
    ts.isPropertyAccessExpression(node.left)
  ) {
    const { name } = node.left;
    return { name: name.text, member: checker.getSymbolAtLocation(name), standard: node.right };
  }
  // isGiven ? options.name : 1
  if (ts.isConditionalExpression(node) && ts.isPropertyAccessExpression(node.whenTrue)) {
    const { name } = node.whenTrue;
    return { name: name.text, member: checker.getSymbolAtLocation(name), standard: node.whenFalse };
  }
  return schemaDefault(node);
}

/** Returns two keys for a member's name: the name within its file, and the name within its package. */
function scopedNames(node: ts.Node, name: string): string[] {
  const { fileName } = node.getSourceFile();
  const [, inPackage = ''] = /\/((?:packages|examples)\/[^/]+)\//.exec(fileName) ?? [];
  return [`${fileName} ${name}`, `${inPackage} ${name}`];
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
  const usedByName = new Map<string, Plain[]>();
  const visit = (node: ts.Node): void => {
    const given = givenDefault(checker, node);
    const value = given && constantOf(checker, given.standard);
    if (given !== null && value !== null) {
      for (const name of scopedNames(node, given.name))
        usedByName.set(name, [...(usedByName.get(name) ?? []), value]);
      for (const one of given.member?.declarations ?? []) used.set(one, [...(used.get(one) ?? []), value]);
    }
    ts.forEachChild(node, visit);
  };
  for (const source of sources) visit(source);

  /**
   * Returns the default values of a member in the code. If the code gives none to the member's own type,
   * returns the defaults of members with the same name in the same file, or else in the same package.
   */
  const valuesOf = (member: ts.PropertySignature, values: readonly Plain[]): readonly Plain[] => {
    const name = member.name.getText();
    const byName = scopedNames(member, name).map((one) => usedByName.get(one));
    const found = used.get(member) ?? byName.find((one) => one !== undefined) ?? [];
    // A member that is false without a value needs no default in the code.
    return found.length === 0 && (values[0] === false || absent.has(name)) ? values : found;
  };
  const placeOf = (node: ts.Node): string => {
    const source = node.getSourceFile();
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    return `${relative(root, source.fileName)}:${line + 1}`;
  };
  const listed = (values: readonly Plain[]): string => [...new Set(values)].sort().join(', ');
  const wrong = [...stated]
    .map(([member, values]) => [member, listed(values), listed(valuesOf(member, values))] as const)
    .filter(([, comment, code]) => comment !== code)
    .map(([member, comment, code]) => `${placeOf(member)}: ${comment} in the comment, ${code} in the code`);
  expect(wrong).toEqual([]);
  expect(stated.size).toBeGreaterThan(50);
});
