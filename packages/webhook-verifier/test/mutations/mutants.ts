import ts from 'typescript';

/** A source file with one thing broken. */
export interface Mutant {
  readonly file: string;
  /** What was broken, as `before → after`. */
  readonly change: string;
  readonly line: number;
  readonly source: string;
}

/** What each operator is broken into: its opposite, and its neighbour where a bound is concerned. */
const operators: { readonly [operator: string]: readonly string[] } = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
};

/** Every comparison and logical operator of a file broken, one at a time, every condition fixed, every format loosened. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  const replace = (node: ts.Node, text: string): void => {
    const [start, end] = [node.getStart(tree), node.getEnd()];
    const line = tree.getLineAndCharacterOfPosition(start).line + 1;
    mutants.push({
      file,
      line,
      // An operator says little without what it compares.
      change: `${ts.isToken(node) ? `${node.parent.getText(tree)}: ` : ''}${node.getText(tree)} → ${text}`,
      source: source.slice(0, start) + text + source.slice(end),
    });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node)) {
      for (const text of operators[node.operatorToken.getText(tree)] ?? []) replace(node.operatorToken, text);
    }
    if (ts.isIfStatement(node)) {
      for (const text of ['true', 'false']) replace(node.expression, text);
    }
    if (ts.isConditionalExpression(node)) {
      for (const text of ['true', 'false']) replace(node.condition, text);
    }
    if (ts.isRegularExpressionLiteral(node)) {
      const { text } = node;
      for (const [from, to] of [
        ['/^', '/'],
        ['$/', '/'],
        ['{64}', '+'],
        ['{1,255}', '+'],
        ['{2,40}', '+'],
        ['{0,11}', '*'],
        ['{0,3}', '*'],
        ['[1-9]', '\\d'],
        ['0-9a-f', '0-9a-fA-F'],
      ] as const) {
        if (text.includes(from)) replace(node, text.replace(from, to));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return mutants;
}
