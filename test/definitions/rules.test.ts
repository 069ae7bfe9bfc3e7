import { validateResourceDefinition } from '@orch/core/definitions'
import { printFieldError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { runAtOnce } from '@orch/core/steps'
import { describe, expect, test } from 'vitest'

type Json = Readonly<Record<string, unknown>>

const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }

/** A definition with one version and this schema. */
function widgets({ spec = {}, version = {}, schema = { type: 'object' } }: { spec?: Json; version?: Json; schema?: Json } = {}): Json {
  const whole = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }
  return {
    metadata: { name: 'widgets.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions: [whole], ...spec },
    status: { storedVersions: ['v1'] },
  }
}

/** Errors as `field: message`. */
const problems = (definition: Json, live?: Json): string[] =>
  runAtOnce(validateResourceDefinition(definition, live, namesOf('kubernetes'), { level: 25 })).map((error) => printFieldError(error, 25))

const root = 'spec.validation.openAPIV3Schema'
/** The problems of an object's property; each path begins at the property. */
const ofProperty = (property: Json, more: Json = {}): string[] =>
  problems(widgets({ schema: { type: 'object', properties: { a: property }, ...more } })).map((text) =>
    text.replace(`${root}.properties[a]`, '@').replace(root, '^'),
  )

const inName = (name: string, value: unknown) => problems(widgets({ spec: { names: { ...names, [name]: value } } }))
const label = "a DNS-1035 label must consist of lower case alphanumeric characters or '-'"

describe('names in a definition', () => {
  test('of a valid definition are accepted', () => {
    expect(problems(widgets())).toEqual([])
  })
  test('CRD-03: consist of plural and group for the object', () => {
    expect(problems({ ...widgets(), metadata: { name: 'x.example.com' } })).toEqual([
      'metadata.name: Invalid value: "x.example.com": must be spec.names.plural+"."+spec.group',
    ])
  })
  test('CRD-10: include a group that is a domain with a dot', () => {
    const ofGroup = (group: string) => problems(widgets({ spec: { group } })).filter((text) => text.startsWith('spec.group'))
    expect(ofGroup('')).toEqual(['spec.group: Required value'])
    expect(ofGroup('example')).toEqual(['spec.group: Invalid value: "example": should be a domain with at least one dot'])
    expect(ofGroup('a_b.c')[0]).toContain('a lowercase RFC 1123 subdomain')
  })
  test('CRD-11: include a scope, one of two', () => {
    expect(problems(widgets({ spec: { scope: '' } }))).toEqual(['spec.scope: Required value'])
    expect(problems(widgets({ spec: { scope: 'X' } }))).toEqual([
      'spec.scope: Unsupported value: "X": supported values: "Cluster", "Namespaced"',
    ])
  })
  test.each(['singular', 'kind', 'listKind'])('CRD-12: include %s, which is a DNS label', (name) => {
    expect(inName(name, 'A b')[0]).toContain(label)
  })
  test('CRD-12: include short names, which are DNS labels, and kinds, which may have capitals', () => {
    expect(inName('shortNames', ['ok', 'B'])[0]).toMatch(/^spec\.names\.shortNames\[1\]: Invalid value: "B"/)
    expect(inName('kind', 'A b')[0]).toContain('may have mixed case, but should otherwise match: ')
    expect(inName('kind', 'GadgetX')).toEqual([])
  })
  test('CRD-13: include different kinds for objects and lists', () => {
    expect(inName('listKind', 'Widget')).toEqual(['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'])
  })
  test('CRD-14: include categories, which are DNS labels', () => {
    expect(inName('categories', ['all', 'B'])[0]).toMatch(/^spec\.names\.categories\[1\]: Invalid value: "B"/)
  })
  test.each(['singular', 'kind', 'listKind'])('CRD-15: include %s, which is required', (name) => {
    expect(inName(name, '')).toEqual([`spec.names.${name}: Required value`])
  })
})

describe('versions of a definition', () => {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }
  const ofVersions = (...versions: Json[]) => problems(widgets({ spec: { versions } }))
  test('CRD-16: have distinct names, which are DNS labels', () => {
    expect(ofVersions({ ...version, name: 'V1' })[0]).toContain(label)
    expect(ofVersions(version, { ...version, storage: false }).map((text) => text.split('}: ').at(-1))).toEqual([
      'must contain unique version names',
    ])
  })
  test('CRD-17: include one that is stored', () => {
    const texts = ofVersions({ ...version, storage: false }).map((text) => text.split('}: ').at(-1))
    expect(texts).toEqual(['must have exactly one version marked as storage version'])
  })
  test('CRD-18: are at least one', () => {
    expect(ofVersions()[0]).toContain('must have exactly one version marked as storage version')
  })
  test('CRD-20: may change, but group and plural are immutable, and scope and kind are once the definition is established', () => {
    const live = widgets()
    const established = { ...live, status: { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] } }
    const immutable = (spec: Json, before: Json) => problems(widgets({ spec }), before).filter((text) => text.includes('immutable'))
    expect(immutable({ group: 'b.example.com' }, live)).toEqual(['spec.group: Invalid value: "b.example.com": field is immutable'])
    expect(immutable({ names: { ...names, plural: 'others' } }, live)).toHaveLength(1)
    expect(immutable({ scope: 'Cluster' }, live)).toEqual([])
    expect(immutable({ scope: 'Cluster' }, established)).toEqual(['spec.scope: Invalid value: "Cluster": field is immutable'])
    expect(immutable({ names: { ...names, kind: 'Other' } }, established)).toHaveLength(1)
  })
  test('CRD-21: may preserve unknown fields at the top only if they did before', () => {
    const keeping = widgets({ spec: { preserveUnknownFields: true } })
    expect(problems(keeping)).toEqual([
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ])
    expect(problems(keeping, keeping)).toEqual([])
  })
  test('CRD-22: each have a schema', () => {
    expect(ofVersions(version, { name: 'v2', served: true })).toEqual([
      'spec.versions[1].schema.openAPIV3Schema: Required value: schemas are required',
    ])
  })
  test('CRD-139: may not be removed while they are stored versions', () => {
    const live = widgets()
    const next = { ...version, name: 'v2' }
    expect(problems({ ...widgets({ spec: { versions: [next] } }), status: { storedVersions: ['v1', 'v2'] } }, live)[0]).toMatch(
      /^status\.storedVersions\[0\]: Invalid value: "v1": missing from spec\.versions; v1 was previously a storage version/,
    )
  })
})

describe('schemas of a definition', () => {
  test('CRD-28: need a type in every part', () => {
    expect(ofProperty({})).toEqual(['@.type: Required value: must not be empty for specified object fields'])
    expect(ofProperty({ type: 'array', items: {} })).toEqual(['@.items.type: Required value: must not be empty for specified array items'])
    expect(problems(widgets({ schema: { properties: {} } }))).toEqual([`${root}.type: Required value: must not be empty at the root`])
    expect(problems(widgets({ schema: { type: 'string' } }))).toEqual([`${root}.type: Invalid value: "string": must be object at the root`])
    expect(ofProperty({ 'x-kubernetes-int-or-string': true })).toEqual([])
    expect(ofProperty({ 'x-kubernetes-preserve-unknown-fields': true })).toEqual([])
  })
  test.each([
    ['type', 'string', 'must be empty to be structural'],
    ['default', 'x', 'must be undefined to be structural'],
    ['title', 'x', 'must be empty to be structural'],
    ['description', 'x', 'must be empty to be structural'],
    ['nullable', true, 'must be false to be structural'],
    ['additionalProperties', { type: 'string' }, 'must be undefined to be structural'],
    ['x-kubernetes-preserve-unknown-fields', true, 'must be false to be structural'],
    ['x-kubernetes-embedded-resource', true, 'must be false to be structural'],
    ['x-kubernetes-int-or-string', true, 'must be false to be structural'],
    ['x-kubernetes-validations', [{ rule: 'true' }], 'must be empty to be structural'],
  ])('CRD-29: do not allow %s in a junctor', (name, value, detail) => {
    expect(ofProperty({ type: 'object', anyOf: [{ [name]: value }] })).toContain(`@.anyOf[0].${name}: Forbidden: ${detail}`)
  })
  test('CRD-29, CRD-38: allow types in a junctor only for int-or-string', () => {
    const anyOf = [{ type: 'integer' }, { type: 'string' }]
    expect(ofProperty({ 'x-kubernetes-int-or-string': true, anyOf })).toEqual([])
    expect(ofProperty({ 'x-kubernetes-int-or-string': true, allOf: [{ anyOf }] })).toEqual([])
    expect(ofProperty({ 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true })).toEqual([
      '@.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true',
    ])
  })
  test.each(['allOf', 'anyOf', 'oneOf', 'not'])('CEL-33: allow no rules on %s and its parts', (name) => {
    const ruled = { 'x-kubernetes-validations': [{ rule: 'true' }] }
    const outside = { type: 'object', properties: { b: { type: 'string' } } }
    const of = (part: Json) => ofProperty({ ...outside, [name]: name === 'not' ? part : [part] })
    const place = name === 'not' ? '@.not' : `@.${name}[0]`
    expect(of({ properties: { b: { maxLength: 1 } } })).toEqual([])
    const forbidden = 'x-kubernetes-validations: Forbidden: must be empty to be structural'
    expect(of(ruled)).toEqual([`${place}.${forbidden}`])
    expect(of({ properties: { b: ruled } })).toEqual([`${place}.properties[b].${forbidden}`])
  })
  test('CEL-28: need a single-line message, which a rule of several lines requires', () => {
    const of = (rule: Json) => ofProperty({ type: 'string', maxLength: 1, 'x-kubernetes-validations': [rule] })
    const place = '@.x-kubernetes-validations[0].message'
    expect(of({ rule: 'true', message: 'short' })).toEqual([])
    expect(of({ rule: 'true', message: ' ' })).toEqual([`${place}: Invalid value: " ": message must be non-empty if specified`])
    expect(of({ rule: 'true', message: 'a\nb' })).toEqual([`${place}: Invalid value: "a\\nb": message must not contain line breaks`])
    expect(of({ rule: 'true &&\ntrue' })).toEqual([`${place}: Required value: message must be specified if rule contains line breaks`])
    expect(of({ rule: 'true &&\ntrue', message: 'both' })).toEqual([])
  })
  test('CRD-30: need the properties of a junctor outside of it too', () => {
    const schema = { type: 'object', anyOf: [{ properties: { b: { minimum: 1 } } }] }
    expect(problems(widgets({ schema }))).toEqual([
      `${root}.properties[b]: Required value: because it is defined in ${root}.anyOf[0].properties[b]`,
    ])
  })
  test.each([
    ['$ref', 'x', '$ref is not supported'],
    ['definitions', { x: { type: 'string' } }, 'definitions is not supported'],
    ['dependencies', { x: ['y'] }, 'dependencies is not supported'],
    ['patternProperties', { x: { type: 'string' } }, 'patternProperties is not supported'],
    ['additionalItems', true, 'additionalItems is not supported'],
    ['id', 'x', 'id is not supported'],
    ['uniqueItems', true, 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'],
  ])('CRD-31: do not support %s', (name, value, detail) => {
    expect(ofProperty({ type: 'object', [name]: value })).toEqual([`@.${name}: Forbidden: ${detail}`])
  })
  test('CRD-31: have one schema for all items of a list, and no type null', () => {
    expect(ofProperty({ type: 'array', items: [{ type: 'string' }] })).toContain(
      '@.items: Forbidden: items must be a schema object and not an array',
    )
    expect(ofProperty({ type: 'null' })).toContain('@.type: Forbidden: type cannot be set to null, use nullable as an alternative')
  })
  test.each([false, { type: 'string' }])('CRD-32: do not combine properties and additionalProperties: %j', (additionalProperties) => {
    expect(ofProperty({ type: 'object', properties: { b: { type: 'string' } }, additionalProperties })).toEqual([
      '@.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
    ])
  })
  test('CRD-33: do not allow additionalProperties at the root', () => {
    expect(problems(widgets({ schema: { type: 'object', additionalProperties: { type: 'string' } } }))).toEqual([
      `${root}.additionalProperties: Forbidden: must not be used at the root`,
    ])
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }
    expect(ofProperty({ ...embedded, additionalProperties: true })).toEqual([
      '@.additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set',
    ])
  })
  test('CRD-34, CRD-35: restrict only names in metadata, and give the three members their types', () => {
    const withMeta = (metadata: Json) => problems(widgets({ schema: { type: 'object', properties: { metadata } } }))
    expect(withMeta({ type: 'object', properties: { name: { type: 'string', maxLength: 9 } } })).toEqual([])
    expect(withMeta({ type: 'object', properties: { labels: { type: 'object' } } })).toEqual([
      `${root}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
    ])
    expect(withMeta({ type: 'string' })).toEqual([`${root}.properties[metadata].type: Invalid value: "string": must be object`])
    const { kind, apiVersion } = { kind: { type: 'integer' }, apiVersion: { type: 'integer' } }
    expect(problems(widgets({ schema: { type: 'object', properties: { kind, apiVersion } } }))).toHaveLength(2)
  })
  test('CRD-36: do not set x-kubernetes-preserve-unknown-fields to false', () => {
    expect(ofProperty({ type: 'object', 'x-kubernetes-preserve-unknown-fields': false })).toEqual([
      '@.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined',
    ])
  })
  test('CRD-37: describe an embedded resource as an object with its contents', () => {
    expect(ofProperty({ type: 'string', 'x-kubernetes-embedded-resource': true })).toContain(
      '@.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
    )
    expect(ofProperty({ type: 'object', 'x-kubernetes-embedded-resource': true })).toEqual([
      '@.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    ])
  })
  const item = { type: 'object', required: ['k'], properties: { k: { type: 'string' } } }
  const listMap = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'], items: item }
  test.each<[string, Json, string]>([
    [
      'another type of list',
      { 'x-kubernetes-list-type': 'bag', 'x-kubernetes-list-map-keys': [] },
      '@.x-kubernetes-list-type: Unsupported value: "bag"',
    ],
    [
      'another type',
      { type: 'string', items: undefined },
      '@.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified',
    ],
    [
      'no keys',
      { 'x-kubernetes-list-map-keys': [] },
      '@.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
    ],
    [
      'a key twice',
      { 'x-kubernetes-list-map-keys': ['k', 'k'] },
      '@.x-kubernetes-list-map-keys: Invalid value: ["k","k"]: must not contain duplicate entries',
    ],
    [
      'an unknown key',
      { 'x-kubernetes-list-map-keys': ['x'] },
      '@.x-kubernetes-list-map-keys: Invalid value: ["x"]: entries must all be names of item properties',
    ],
    [
      'a key that may be absent',
      { items: { ...item, required: [] } },
      '@.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
    ],
    [
      'a key that may be null',
      { items: { ...item, properties: { k: { type: 'string', nullable: true } } } },
      '@.items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
    ],
    [
      'items that may be null',
      { items: { ...item, nullable: true } },
      '@.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map',
    ],
  ])('CRD-39: refuse a list map with %s', (_title, change, problem) => {
    expect(ofProperty(listMap)).toEqual([])
    expect(ofProperty({ ...listMap, ...change }).some((text) => text.startsWith(problem))).toBe(true)
  })
  test('CRD-40: need atomic items in a set', () => {
    const set = (items: Json) => ofProperty({ type: 'array', 'x-kubernetes-list-type': 'set', items })
    expect(set({ type: 'string' })).toEqual([])
    expect(set({ type: 'object', 'x-kubernetes-map-type': 'atomic' })).toEqual([])
    expect(set({ type: 'object' })).toHaveLength(1)
    expect(set({ type: 'string', nullable: true })).toEqual([
      '@.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set',
    ])
  })
  test('CRD-41: allow one of two map types, only on objects', () => {
    expect(ofProperty({ type: 'object', 'x-kubernetes-map-type': 'x' })).toEqual([
      '@.x-kubernetes-map-type: Unsupported value: "x": supported values: "atomic", "granular"',
    ])
    expect(ofProperty({ type: 'string', 'x-kubernetes-map-type': 'atomic' })[0]).toContain(
      'must be object if x-kubernetes-map-type is specified',
    )
  })
  test('CRD-42: need patterns that Go accepts', () => {
    expect(ofProperty({ type: 'string', pattern: '(?i)^[[:alpha:]]+\\z' })).toEqual([])
    expect(ofProperty({ type: 'string', pattern: '(?=x)' })[0]).toMatch(
      /^@\.pattern: Invalid value: "\(\?=x\)": must be a valid regular expression, but isn't: /,
    )
  })
  test('CRD-43: use one of six types', () => {
    expect(ofProperty({ type: 'text' })).toEqual([
      '@.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ])
  })
  test('CRD-44: set no defaults for members of every object', () => {
    const properties = { kind: { type: 'string', default: 'X' } }
    expect(problems(widgets({ schema: { type: 'object', properties } }))).toEqual([
      `${root}.properties[kind].default: Forbidden: must not be set in top-level kind`,
    ])
  })
  test('CRD-45: need defaults that fit the schema', () => {
    expect(ofProperty({ type: 'integer', default: 'x' })).toEqual([
      '@.default: Invalid value: "string": @.default in body must be of type integer: "string"'.replace('@.default in body', ' in body'),
    ])
    expect(ofProperty({ type: 'object', properties: { b: { type: 'string' } }, default: { c: 1 } })[0]).toContain(
      'must not have unknown fields',
    )
  })
  test('CRD-46: do not allow null at the root', () => {
    expect(problems(widgets({ schema: { type: 'object', nullable: true } }))).toEqual([
      `${root}.nullable: Forbidden: nullable cannot be true at the root`,
    ])
  })
  test('CRD-47: allow few members at the root beside a status', () => {
    const version = { subresources: { status: {} } }
    expect(
      problems(widgets({ version, schema: { type: 'object', required: ['spec'], properties: { spec: { type: 'object' } } } })),
    ).toEqual([])
    expect(problems(widgets({ version, schema: { type: 'object', maxProperties: 3 } }))[0]).toContain(
      'XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
    )
  })
  test('CRD-48: may keep a stored error, and no new error is accepted', () => {
    const set = (items: Json) =>
      widgets({ schema: { type: 'object', properties: { a: { type: 'array', 'x-kubernetes-list-type': 'set', items } } } })
    const before = set({ type: 'object' })
    expect(problems(set({ type: 'object', properties: { b: { type: 'string' } } }), before)).toEqual([])
    expect(problems(set({ type: 'object' }), set({ type: 'string' }))).toHaveLength(1)
  })
})

describe('parts of a version', () => {
  const scale = (paths: Json) =>
    problems(widgets({ version: { subresources: { scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r', ...paths } } } }))
  test.each<[string, Json, string]>([
    ['no path of the wanted number', { specReplicasPath: '' }, 'specReplicasPath: Required value'],
    ['no path of the number there is', { statusReplicasPath: '' }, 'statusReplicasPath: Required value'],
    [
      'a path elsewhere',
      { specReplicasPath: '.status.r' },
      'specReplicasPath: Invalid value: ".status.r": should be a json path under .spec',
    ],
    [
      'a path without a dot',
      { statusReplicasPath: 'status.r' },
      'statusReplicasPath: Invalid value: "status.r": must be a simple json path starting with .',
    ],
    [
      'a selector elsewhere',
      { labelSelectorPath: '.x' },
      'labelSelectorPath: Invalid value: ".x": should be a json path under either .spec or .status',
    ],
  ])('CRD-49: with %s in a scale are refused', (_title, paths, problem) => {
    expect(scale({})).toEqual([])
    expect(scale(paths)).toEqual([`spec.subresources.scale.${problem}`])
  })
  test('CRD-50: include columns with a name, a type and a path', () => {
    const column = (change: Json) =>
      problems(widgets({ version: { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a', ...change }] } })).map(
        (text) => text.replace('spec.additionalPrinterColumns[0].', ''),
      )
    expect(column({})).toEqual([])
    expect(column({ name: '' })).toEqual(['name: Required value'])
    expect(column({ type: 'text' })).toEqual(['type: Invalid value: "text": must be one of boolean,date,integer,number,string'])
    expect(column({ format: 'x' })[0]).toMatch(/^format: Invalid value: "x": must be one of /)
    expect(column({ jsonPath: '' })).toEqual(['JSONPath: Required value'])
    expect(column({ jsonPath: 'spec' })).toEqual(['JSONPath: Invalid value: "spec": must be a simple json path starting with .'])
  })
  test('CRD-51: include at most eight selectable fields, which are scalars', () => {
    const properties = Object.fromEntries([...'abcdefghi'].map((name) => [name, { type: 'string' }]))
    const schema = { type: 'object', properties: { spec: { type: 'object', properties: { ...properties, o: { type: 'object' } } } } }
    const select = (...paths: string[]) =>
      problems(widgets({ schema, version: { selectableFields: paths.map((jsonPath) => ({ jsonPath })) } })).map((text) =>
        text.replace('spec.selectableFields', ''),
      )
    expect(select('.spec.a')).toEqual([])
    expect(select('')).toEqual(['[0].jsonPath: Required value'])
    expect(select('.spec.a', '.spec.a')).toEqual(['[1].jsonPath: Duplicate value: ".spec.a"'])
    expect(select('.spec.o')[0]).toContain('must point to a field of type string, boolean or integer')
    expect(select(".spec['a']")[0]).toContain('array notation is not allowed')
    expect(select(...[...'abcdefghi'].map((name) => `.spec.${name}`))).toEqual([': Too many: 9: must have at most 8 items'])
  })
  test('CRD-23, CRD-51: include selectable fields, which are shared with the schema', () => {
    const spec = { type: 'object', properties: { a: { type: 'string' } } }
    const version = { served: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }
    const selectableFields = [{ jsonPath: '.spec.a' }]
    const versions = [
      { ...version, name: 'v1', storage: true, selectableFields },
      { ...version, name: 'v2', storage: false },
    ]
    expect(problems(widgets({ spec: { versions } }))).toEqual([
      'spec.versions[0].selectableFields: Invalid value: "": selectableFields may only be set when version.schema.openAPIV3Schema is not included',
    ])
  })
  test('CRD-131, CRD-132, CRD-133: include a conversion webhook with a client configuration and review versions', () => {
    const config = { clientConfig: { url: 'https://x.example.com' }, conversionReviewVersions: ['v1'] }
    const convert = (webhook: Json | undefined, strategy = 'Webhook') =>
      problems(widgets({ spec: { conversion: { strategy, ...(webhook && { webhook }) } } })).map((text) =>
        text.replace('spec.conversion.', ''),
      )
    expect(convert(config)).toEqual([])
    expect(convert(undefined)[0]).toBe('webhookClientConfig: Required value: required when strategy is set to Webhook')
    expect(convert(config, 'None')).toHaveLength(2)
    expect(convert({ ...config, conversionReviewVersions: ['v2'] })[0]).toContain('must include at least one of v1, v1beta1')
    expect(convert({ ...config, conversionReviewVersions: [] })).toEqual(['conversionReviewVersions: Required value'])
    expect(convert({ ...config, clientConfig: {} })[0]).toContain('exactly one of url or service is required')
    expect(convert({ ...config, clientConfig: { url: 'http://x' } })[0]).toContain("'https' is the only allowed URL scheme")
  })
})
