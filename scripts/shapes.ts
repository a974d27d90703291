/** Reads the members of interfaces and unions in the source, with their comments, as tables. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const root = resolve(import.meta.dirname, '..');

/** A member of an interface, as a table row. */
export interface Member {
  /** Name of the member, prefixed with the names of the objects that contain it, separated by dots. */
  readonly path: string;
  /** Type of the member; `null` for an object whose own members follow. */
  readonly type: string | null;
  readonly isOptional: boolean;
  readonly text: string;
  /** Text of the member's tag `@defaultValue`; `null` if the tag is missing. */
  readonly standard: string | null;
}

/** One alternative of a union type. */
export interface Alternative {
  readonly type: string;
  readonly text: string;
}

const onOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
const plain = (comment: string | ts.NodeArray<ts.JSDocComment> | undefined): string =>
  onOneLine(ts.getTextOfJSDocComment(comment) ?? '');

function sourceOf(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
}

function declarationIn(file: string, name: string): ts.InterfaceDeclaration | ts.TypeAliasDeclaration {
  const found = sourceOf(file).statements.find(
    (statement) =>
      (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) &&
      statement.name.text === name,
  );
  if (found === undefined) throw new Error(`scripts/shapes.ts: ${file} has no ${name}`);
  return found as ts.InterfaceDeclaration | ts.TypeAliasDeclaration;
}

/** Returns the comment of a declaration. */
function commentOf(node: ts.Node): { readonly text: string; readonly standard: string | null } {
  const docs = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const tags = docs.flatMap(({ tags: all }) => [...(all ?? [])]);
  const parameters = tags
    .filter(ts.isJSDocParameterTag)
    .map(({ name, comment }) => `\`${name.getText()}\`: ${plain(comment).replace(/^- /, '')}.`);
  const standard = tags.find(({ tagName }) => tagName.text === 'defaultValue');
  return {
    text: [...docs.map(({ comment }) => plain(comment)), ...parameters].join(' '),
    standard: standard === undefined ? null : plain(standard.comment),
  };
}

function membersOf(elements: readonly ts.TypeElement[], outer = ''): Member[] {
  return elements.flatMap((element): Member[] => {
    if (!ts.isPropertySignature(element) && !ts.isMethodSignature(element)) return [];
    const path = `${outer}${element.name.getText()}`;
    const { type } = element;
    // Mapped types have no members here: `entriesIn` lists the table that they map.
    const parts = type !== undefined && ts.isIntersectionTypeNode(type) ? [...type.types] : [type];
    const inner = parts.find((part) => part !== undefined && ts.isTypeLiteralNode(part))?.members ?? null;
    const parameters = ts.isMethodSignature(element)
      ? `(${element.parameters.map((parameter) => parameter.getText()).join(', ')}) => `
      : '';
    const member = {
      path,
      type: inner === null ? onOneLine(`${parameters}${type?.getText() ?? 'void'}`) : null,
      isOptional: element.questionToken !== undefined,
      ...commentOf(element),
    };
    return [member, ...(inner === null ? [] : membersOf([...inner], `${path}.`))];
  });
}

/** Returns the members of an interface, including members of objects in the interface. */
export function interfaceIn(file: string, name: string): { text: string; members: readonly Member[] } {
  const declaration = declarationIn(file, name);
  const members = ts.isInterfaceDeclaration(declaration) ? membersOf([...declaration.members]) : [];
  if (members.length === 0) throw new Error(`scripts/shapes.ts: found no members of ${name}`);
  return { text: commentOf(declaration).text, members };
}

/** Returns the entries of a table (a constant object), with their comments. */
export function entriesIn(file: string, name: string): { readonly name: string; readonly text: string }[] {
  const source = sourceOf(file);
  const constants = source.statements
    .filter(ts.isVariableStatement)
    .flatMap((statement) => [...statement.declarationList.declarations]);
  let table = constants.find((constant) => constant.name.getText() === name)?.initializer;
  while (table !== undefined && (ts.isSatisfiesExpression(table) || ts.isAsExpression(table)))
    table = table.expression;
  if (table === undefined || !ts.isObjectLiteralExpression(table))
    throw new Error(`scripts/shapes.ts: ${file} has no table ${name}`);
  return table.properties.map((entry) => ({
    name: entry.name?.getText() ?? '',
    text: commentOf(entry).text,
  }));
}

/** Returns the alternatives of a union type. */
export function unionIn(file: string, name: string): { text: string; alternatives: readonly Alternative[] } {
  const declaration = declarationIn(file, name);
  if (!ts.isTypeAliasDeclaration(declaration) || !ts.isUnionTypeNode(declaration.type))
    throw new Error(`scripts/shapes.ts: ${name} is no union`);
  const { types } = declaration.type;
  const source = declaration.getSourceFile().text;
  const alternatives = types.map((type, index): Alternative => {
    // Read the comment before the bar, which belongs to neither neighbour.
    const before = source.slice(types[index - 1]?.end ?? declaration.type.pos, type.getStart());
    const [, text = ''] = /\/\*\*([\s\S]*?)\*\//.exec(before) ?? [];
    return { type: onOneLine(type.getText()), text: onOneLine(text.replace(/^\s*\* ?/gm, '')) };
  });
  return { text: commentOf(declaration).text, alternatives };
}
