import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { walkValue } from './decode.ts'
import { readObjectMeta } from './object-meta.ts'
import { parseStructural } from './parse.ts'
import { findUnknown } from './read-object.ts'

interface WalkCase {
  readonly name: string
  readonly json: string
  readonly schema?: unknown
  readonly expected?: string
  readonly expectedObject?: string
  readonly expectedPruned?: readonly string[]
  readonly expectedUnknownFields?: readonly string[]
  readonly isResourceRoot?: boolean
  readonly includeRoot?: boolean
  readonly dropInvalidFields?: boolean
}

/** Reads the cases of a file, whose first line states the source. */
function casesOf<T>(file: string): T[] {
  const lines = readFileSync(new URL(`cases/${file}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
  return lines.slice(1).map((line) => JSON.parse(line) as T)
}

const walk = { prunes: false, fillsDefaults: false, embedded: 'keep', isRoot: false } as const

it.each(casesOf<WalkCase>('schema-pruning'))(
  'CRD-90 CRD-91 CRD-92: unknown fields are pruned as recorded: $name',
  ({ json, schema, isResourceRoot = false, ...expected }) => {
    const value: unknown = JSON.parse(json)
    const tree = parseStructural(schema)
    const walked = walkValue(tree, value, { ...walk, prunes: true, isRoot: isResourceRoot })
    expect(walked.value).toEqual(JSON.parse(expected.expectedObject ?? ''))
    const found = findUnknown(tree, value, { isRoot: isResourceRoot }).filter((path) => !/metadata\.unspecified$/.test(path))
    expect(found).toEqual([...(expected.expectedPruned ?? [])].sort())
    if (found.length > 0) expect(walked.hasUnknown).toBe(true)
  },
)

it.each(casesOf<WalkCase>('schema-defaulting'))('CRD-96: defaults are set as recorded: $name', ({ json, schema, expected = '' }) => {
  const { value } = walkValue(parseStructural(schema), JSON.parse(json), { ...walk, fillsDefaults: true })
  expect(value).toEqual(JSON.parse(expected))
})

it.each(casesOf<WalkCase>('schema-defaulting-nulls'))(
  'CRD-97: a null without a default is treated as recorded: $name',
  ({ json, schema, expected = '' }) => {
    const value: unknown = JSON.parse(json)
    const tree = schema === undefined ? {} : parseStructural(schema)
    expect(walkValue(keepingUnknown(tree), value, { ...walk, prunes: true }).value).toEqual(JSON.parse(expected))

    /** These cases only drop null. */
    function keepingUnknown(schema: ReturnType<typeof parseStructural>): ReturnType<typeof parseStructural> {
      return { ...schema, preservesUnknownFields: true, ...(schema.items === undefined ? {} : { items: keepingUnknown(schema.items) }) }
    }
  },
)

it.each(casesOf<WalkCase>('schema-objectmeta-coerce'))(
  'CRD-92 CRD-93: the metadata of embedded objects are read as recorded: $name',
  (given) => {
    const value: unknown = JSON.parse(given.json)
    const tree = parseStructural(given.schema)
    const root = given.includeRoot === true ? { ...tree, isEmbeddedResource: true as const } : tree
    const walked = walkValue(root, value, { ...walk, embedded: given.dropInvalidFields === true ? 'dropMalformed' : 'refuseMalformed' })
    expect(walked.value).toEqual(JSON.parse(given.expected ?? ''))
    const found = findUnknown(root, value, { isRoot: false }).filter((path) => /metadata\.unspecified$/.test(path))
    expect(found).toEqual(given.expectedUnknownFields ?? [])
  },
)

interface MetaCase {
  readonly obj: { readonly metadata: unknown }
  readonly dropMalformedFields: boolean
  readonly returnUnknownFieldPaths: boolean
  readonly expectedErr?: string
  readonly expectedObject?: unknown
  readonly expectedUnknownPaths?: readonly string[]
}

it.each(casesOf<MetaCase>('schema-objectmeta-get'))('CRD-93: metadata of an object: $#', (given) => {
  const read = readObjectMeta(given.obj.metadata, {
    dropsMalformed: given.dropMalformedFields,
    trackUnknown: given.returnUnknownFieldPaths,
  })
  if (given.expectedErr !== undefined) expect(read).toEqual({ kind: 'malformed', text: given.expectedErr })
  else {
    const unknownFields = (given.expectedUnknownPaths ?? []).map((path) => path.replace('metadata.', ''))
    expect(read).toEqual({ kind: 'read', meta: given.expectedObject, unknownFields })
  }
})

interface ObjectMetaCase {
  readonly name: string
  readonly obj?: { readonly metadata?: unknown } | null
  readonly expectedMeta?: unknown
  readonly expectErr?: boolean
}

it.each(casesOf<ObjectMetaCase>('cr-get-object-meta'))(
  'CRD-93: the metadata of a stored object are read as recorded: $name',
  ({ obj, expectedMeta, expectErr = false }) => {
    const read = readObjectMeta(obj?.metadata, { dropsMalformed: false, trackUnknown: false })
    // Errors are worded like those of the decoder for requests.
    expect(read.kind).toBe(expectErr ? 'malformed' : 'read')
    if (read.kind === 'read') expect(read.meta).toEqual(expectedMeta)
  },
)
