/** Repeats a text up to about a length. */
function fill(length: number, unit: string, separator: string): string {
  return Array(Math.floor(length / (unit.length + separator.length)))
    .fill(unit)
    .join(separator)
}

/** Expressions of about a given length; each is wide in another part of the grammar. */
export function wideTexts(length: number): readonly string[] {
  const [ors, ones] = [fill(length, 'self.a==1', '||'), fill(length, '1', ',')]
  const calls = [fill(length, 'self.l.all(x,x>1)', '&&'), `size([${fill(length, 'dyn(1)', ',')}])>0`, `[${ones}].size()>0`]
  const literals = [
    `{${fill(length, "'a':1", ',')}}.?a.orValue(1)==1`,
    `{${fill(length, '[]:[]', ',')}}`,
    `object{${fill(length, 'a:1+1', ',')}}`,
  ]
  const loops = [`[1].all(x, ${ors})`, `self.l.map(x, [${ones}])`, `self.l.filter(x, ${ors})`, `[${ones}].all(x, x==1)`]
  const bindings = [`cel.bind(v, ${ors}, v)`, `cel.bind(v, 1, ${ors})`, `optional.of([${ones}]).optMap(y, y.size())`]
  return [
    ors,
    ...calls,
    ...literals,
    ...loops,
    ...bindings,
    `'%s%s%s'.format([1, 'a', [${ones}]])`,
    `[${fill(length, '[]', ',')}] == [[1]]`,
  ]
}

/** Like `wideTexts`, each with an error. */
export function wrongWideTexts(length: number): readonly string[] {
  const items = [fill(length, "1,'a',b", ','), fill(length, "[],[1],['a']", ','), fill(length, '[],{},none', ',')]
  const wrong = [fill(length, 'a==a', '||'), fill(length, '(1||nope)', '&&'), fill(length, 'self.b.c==f(1)', '||')]
  const calls = [
    `f(${items[0]})`,
    `[${items[0]}].f(none)`,
    `nope{${fill(length, 'a:b', ',')}}`,
    `object{${fill(length, "a:'b',z:none", ',')}}`,
  ]
  const syntax = [`[${fill(length, 'as', ',')}]`, `[${items[0]})`, `${fill(length, '1==1', '||')} 1`, `[${fill(length, '1,$', ',')}]`]
  const refused = [fill(length, "self.s.matches('(')", '||'), fill(length, "duration('x')==duration('1s')", '||')]
  return [...items.map((each) => `[${each}]`), `{${fill(length, "1:'a','a':b", ',')}}`, ...wrong, ...calls, ...syntax, ...refused]
}
