import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseExactly } from '../json/parse-exactly.ts'
import { type FieldError, printFieldError } from '../meta/status.ts'
import { runAtOnce } from '../steps.ts'
import { validateValue } from './check-value.ts'
import { Correlation } from './correlation.ts'
import { validateEmbedded, validateEmbeddedObject } from './embedded.ts'
import { checkOfFormat, isKnownFormat } from './formats.ts'
import { parseStructural } from './parse.ts'
import { validateListTypes } from './validate-object.ts'

/** Reads the cases of a file, whose first line states the source. */
function casesOf<T>(file: string): T[] {
  const lines = readFileSync(new URL(`cases/${file}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
  return lines.slice(1).map((line) => {
    const read = parseExactly(line)
    if (read.kind === 'malformed') throw new Error(read.problem)
    return read.value as T
  })
}

function texts(errors: readonly FieldError[]): string[] {
  return errors.map((error) => printFieldError(error, 25)).sort()
}

interface ValueCase {
  readonly name: string
  readonly schema: unknown
  readonly objects?: readonly unknown[]
  readonly failingObjects?: readonly { readonly object: unknown; readonly expectErrs: readonly string[] }[]
  readonly args?: { readonly schema: unknown; readonly object: unknown }
}

const valueCases = casesOf<ValueCase>('schema-value-validation').filter(
  (given) => !JSON.stringify(given.schema ?? '').includes('x-kubernetes-validations'),
)

it.each(valueCases)(
  'CRD-99 CRD-104: a value is accepted or refused as recorded: $name',
  ({ schema, args, objects = [], failingObjects = [] }) => {
    const tree = parseStructural(schema ?? args?.schema)
    for (const object of args === undefined ? objects : [args.object]) expect(runAtOnce(validateValue(tree, object))).toEqual([])
    for (const { object, expectErrs } of failingObjects)
      expect(texts(runAtOnce(validateValue(tree, object)))).toEqual([...expectErrs].sort())
  },
)

interface ListCase {
  readonly name: string
  readonly schema?: unknown
  readonly obj?: unknown
  readonly expectErrors: readonly { readonly type: string; readonly field: string }[]
}

it.each(casesOf<ListCase>('schema-listtype'))('CRD-105: sets and maps: $name', ({ schema, obj, expectErrors }) => {
  const errors = validateListTypes(parseStructural(schema), obj, 'root')
  const found = errors.map(({ reason, field }) => `${reason} ${field}`)
  expect(found.sort()).toEqual(expectErrors.map(({ type, field }) => `${type} ${field}`).sort())
})

interface EmbeddedCase {
  readonly name: string
  readonly object: unknown
  readonly includeRoot?: boolean
  readonly errors?: readonly { readonly path: string; readonly errorType: string }[]
}

const embedding = { type: 'object', 'x-kubernetes-embedded-resource': true }
const embeddingSchema = {
  type: 'object',
  properties: {
    embedded: embedding,
    nested: { ...embedding, properties: { embedded: embedding } },
    items: { type: 'array', items: embedding },
    additionalProperties: { type: 'object', additionalProperties: embedding },
  },
}

it.each(casesOf<EmbeddedCase>('schema-objectmeta-validate'))(
  'CRD-94: an embedded object has the recorded errors: $name',
  ({ object, includeRoot, errors = [] }) => {
    const found =
      typeof object === 'string'
        ? validateEmbedded(parseStructural({ ...embeddingSchema, 'x-kubernetes-embedded-resource': includeRoot }), JSON.parse(object), {
            path: '',
            level: 25,
          })
        : validateEmbeddedObject(object as Record<string, unknown>, { path: '', level: 25 })
    expect(found.map(({ field, reason }) => `${field} ${reason}`).sort()).toEqual(
      errors.map(({ path, errorType }) => `${path} ${errorType}`).sort(),
    )
  },
)

interface FormatCase {
  readonly name: string
  readonly schema: { readonly schemaProps: { readonly format: string } }
  readonly compatibilityVersion: string
  readonly expectedFormats: readonly string[]
}

it.each(casesOf<FormatCase>('schema-formats'))(
  'CRD-103: a format is checked as recorded: $name',
  ({ schema, compatibilityVersion, expectedFormats }) => {
    const { format } = schema.schemaProps
    const unknown = format === '' || isKnownFormat(format, Number(compatibilityVersion.split('.')[1])) ? [] : [format]
    expect(unknown).toEqual(expectedFormats)
  },
)

it.each([
  ['https://example.com/a b', true],
  ['*', true],
  ['https://exam ple.com', false],
  ['https://a:1:2/', false],
])('CRD-103: the format uri checks %j as a request URI', (text, isRight) => expect(checkOfFormat('uri')?.(text)).toBe(isRight))

interface CorrelationCase {
  readonly name: string
  readonly $schema: unknown
  readonly rootObject: unknown
  readonly rootOldObject: unknown
  readonly keyPath: readonly (string | number)[]
  readonly newValue?: unknown
  readonly oldValue?: unknown
  readonly expectEqual?: boolean
}

it.each(casesOf<CorrelationCase>('cel-correlation'))('CRD-106: an old value is found as recorded: $name', (given) => {
  let pair: Correlation | undefined = new Correlation(parseStructural(given.$schema), given.rootObject, given.rootOldObject)
  for (const step of given.keyPath) pair = typeof step === 'string' ? pair?.key(step) : pair?.index(step)
  expect(pair === undefined ? {} : { newValue: pair.value, oldValue: pair.old }).toEqual({
    newValue: given.newValue,
    oldValue: given.oldValue,
  })
  if (given.expectEqual === true) expect(pair?.isEqual()).toBe(true)
})

interface MapListCase {
  readonly name: string
  readonly sts: unknown
  readonly items?: readonly unknown[]
  readonly query: unknown
  readonly expected?: unknown
}

it.each(casesOf<MapListCase>('cel-map-list'))(
  'CEL-31: the old item of a list is found by its keys as recorded: $name',
  ({ sts, items = [], query, expected }) => {
    const schema = parseStructural({ items: { type: 'object' }, ...(sts as object) })
    expect(new Correlation(schema, [query], items).index(0)?.old).toEqual(expected)
  },
)
