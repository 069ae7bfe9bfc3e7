import { expect, test } from 'vitest'
import { Environment } from '../environment.ts'
import { kubernetesLibraries, kubernetesTypes } from '../kubernetes/index.ts'
import { type CelType, listOf, mapOf, objectOf, optionalOf, printType, type TypeProvider, types } from '../types.ts'

const fields: Readonly<Record<string, CelType>> = { replicas: types.int, name: types.string, labels: mapOf(types.string, types.string) }
const provider: TypeProvider = {
  findType: (name) => (name === 'Spec' ? objectOf(name) : undefined),
  findField: (typeName, field) => (typeName === 'Spec' ? fields[field] : undefined),
}
const variables = {
  self: objectOf('Spec'),
  any: types.dyn,
  list: listOf(types.int),
  old: optionalOf(objectOf('Spec')),
  quantity: kubernetesTypes.quantity,
  'a.b': types.int,
}
const environment = new Environment({ libraries: kubernetesLibraries, variables, provider })

/** The type of an expression, or its errors. */
function check(text: string, used = environment): string {
  const result = used.compile(text)
  return result.kind === 'compiled' ? printType(result.ast.type) : result.message
}

test.each([
  ['self.replicas + 1', 'int'],
  ['self.labels["a"]', 'string'],
  ['self.labels.map(k, k.size())', 'list(int)'],
  ['list.map(x, x > 1, double(x))', 'list(double)'],
  ['any.a.b[0].c', 'dyn'],
  ['any + 1', 'int'],
  ['any + any', 'dyn'],
  ['[]', 'list(dyn)'],
  ['[] + [1]', 'list(int)'],
  ['{}', 'map(dyn, dyn)'],
  ['true ? [] : [[1u]]', 'list(list(uint))'],
  ['old.replicas', 'optional_type(int)'],
  ['old.?labels[?"a"].orValue("")', 'string'],
  ['[?old.?name]', 'list(string)'],
  ['optional.of(1).optMap(x, string(x))', 'optional_type(string)'],
  ['list.transformMap(i, v, string(i))', 'map(int, string)'],
  ['type(self)', 'type(Spec)'],
  ['type(self.labels) == map', 'bool'],
  ['a.b + 1', 'int'],
  ['Spec{replicas: 1, name: "a"}', 'Spec'],
  ['sets.contains(list, [1])', 'bool'],
  ['quantity == null', 'bool'],
  ['list.sortBy(x, -x)', 'list(int)'],
  ['duration("1h") + timestamp("2020-01-01T00:00:00Z")', 'timestamp'],
])('CEL-03: %s is of type %s', (text, type) => {
  expect(check(text)).toBe(type)
})

test.each([
  ['x', "ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^"],
  ['self.x', "ERROR: <input>:1:5: undefined field 'x'\n | self.x\n | ....^"],
  ['f(1)', "ERROR: <input>:1:2: undeclared reference to 'f' (in container '')"],
  ['self.name == 1', "ERROR: <input>:1:11: found no matching overload for '_==_' applied to '(string, int)'"],
  ['self.name.size(1)', "ERROR: <input>:1:15: found no matching overload for 'size' applied to 'string.(int)'"],
  ['[self.name].sum()', "found no matching overload for 'sum' applied to 'list(string).()'"],
  ['self.name != null', "found no matching overload for '_!=_' applied to '(string, null)'"],
  ['self.replicas.all(x, true)', "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)"],
  ['self.replicas.x', "type 'int' does not support field selection"],
  ['self.replicas && true', "ERROR: <input>:1:5: expected type 'bool' but found 'int'"],
  ['Spec{replicas: "1"}', "expected type of field 'replicas' is 'int' but provided type is 'string'"],
  ['Other{}', "undeclared reference to 'Other' (in container '')"],
  ['[?1]', "expected type 'optional_type(int)' but found 'int'"],
  ['x && y', "undeclared reference to 'y'"],
])('CEL-03: %s is refused: %s', (text, message) => {
  expect(check(text)).toContain(message)
})

test('CEL-04: numbers of different types can be compared, but not added', () => {
  expect(check('1 < 2.0 && 1u >= 1 && 2.0 <= 3u')).toBe('bool')
  expect(check('1 + 2.0')).toContain("found no matching overload for '_+_' applied to '(int, double)'")
})

test('CEL-05: literals hold values of one type', () => {
  expect(check('[1, "a"]')).toContain("ERROR: <input>:1:5: expected type 'int' but found 'string'")
  expect(check('{"a": 1, 2: 2}')).toContain("expected type 'string' but found 'int'")
  expect(check('[1, dyn("a")]')).toBe('list(dyn)')
})

test('CEL-08: an expression may use the functions of its version', () => {
  const of = (version: number) => new Environment({ libraries: kubernetesLibraries, variables, provider, version })
  expect(check('semver("1.0.0").major()', of(33))).toBe('int')
  expect(check('semver("1.0.0").major()', of(32))).toContain("undeclared reference to 'semver'")
  expect(check('list.includes(1)', of(36))).toContain("undeclared reference to 'includes'")
  expect(check('list.transformList(i, v, i)', of(31))).toContain('undeclared reference')
  expect(check('self.?name', of(27))).toContain("unsupported syntax '?'")
})

test.each([
  ["authorizer.path('/x').check('get').allowed()", 27],
  ['optional.of(1).hasValue()', 28],
  ["quantity('1').isInteger()", 28],
  ["strings.quote('a') == ''", 29],
  ['sets.contains([1], [1])', 29],
  ["ip('::1').family()", 30],
  ["cidr('::1/128').prefixLength()", 30],
  ['format.uuid()', 31],
  ["authorizer.group('').resource('pods').fieldSelector('a=b').check('get').allowed()", 31],
  ['{1: 2}.transformMap(k, v, k)', 32],
  ["isSemver('1.0.0')", 33],
  ['[1].slice(0, 1)', 34],
  ['[[1]].flatten()', 34],
  ['[1].includes(1)', 37],
])('CEL-07: %s may be used from 1.%i', (text, since) => {
  const authorizer = kubernetesTypes.authorizer
  const of = (version: number) => new Environment({ libraries: kubernetesLibraries, variables: { authorizer }, version })
  expect(of(since).compile(text).kind).toBe('compiled')
  expect(of(since - 1).compile(text).kind).toBe('invalid')
})

test.each([
  "url('https://a.example').getHost()",
  "'a1'.find('[0-9]') + 'a1'.findAll('[0-9]')[0]",
  '[1].isSorted() && [1].sum() + [1].min() + [1].max() + [1].indexOf(1) + [1].lastIndexOf(1) > 0',
])('CEL-07: %s may be used in every version', (text) => {
  expect(new Environment({ libraries: kubernetesLibraries, version: 23 }).compile(text).kind).toBe('compiled')
})

test.each([
  ['duration("1d")', 'ERROR: <input>:1:10: invalid duration argument'],
  ['timestamp("today")', 'ERROR: <input>:1:11: invalid timestamp argument'],
  ['self.name.matches(")")', 'ERROR: <input>:1:19: invalid matches argument'],
  ['matches(self.name, "(?=a)")', 'ERROR: <input>:1:20: invalid matches argument'],
])('CEL-09: %s is refused when it is compiled: %s', (text, message) => {
  expect(check(text)).toContain(message)
})

test('names are looked up in their container first, and a local variable hides a global variable', () => {
  const inside = new Environment({
    libraries: kubernetesLibraries,
    container: 'a',
    variables: { 'a.x': types.int, x: types.string, y: types.bool },
  })
  expect(check('x', inside)).toBe('int')
  expect(check('.x', inside)).toBe('string')
  expect(check('[1u].map(y, y)', inside)).toBe('list(uint)')
  expect(check('[1u].map(y, .y)', inside)).toBe('list(bool)')
  expect(check('z', inside)).toContain("undeclared reference to 'z' (in container 'a')")
})

test('types that contain themselves many times are refused instead of compared without end', () => {
  const chain = (name: string) =>
    Array.from({ length: 60 }, (_, index) => `.map(${name}${index}, {${name}${index}: ${name}${index}})`).join('')
  expect(check(`[1]${chain('a')} == [1]${chain('b')}`)).toContain('steps to compare')
})
