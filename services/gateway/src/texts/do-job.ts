import { jsonToCbor } from '@orch/core/cbor'
import { parseYamlBytes, printYaml } from '@orch/core/yaml'
import type { TextAnswer, TextJob } from './jobs.ts'
import { textOf } from './openapi-jobs.ts'
import { prettyJson } from './pretty-json.ts'
import { readCbor } from './read-cbor.ts'
import { hasTooManyValues } from './too-many-values.ts'

/** Runs a job of the thread of texts. Imports must be minimal, as the thread starts with the first large text. */
export function doJob(job: TextJob): TextAnswer {
  try {
    switch (job.kind) {
      case 'parseYaml':
        return parse(job.bytes)
      case 'printYaml':
        return { kind: 'bytes', bytes: encoder.encode(printYaml(readExactly(textOf(job.bytes)))) }
      case 'prettyJson':
        return { kind: 'bytes', bytes: encoder.encode(prettyJson(textOf(job.bytes))) }
      case 'readCbor':
        return readCbor(job.bytes)
      case 'printCbor':
        return { kind: 'bytes', bytes: jsonToCbor(job.bytes, job.fields) }
    }
  } catch (error) {
    return { kind: 'failed', error }
  }
}

const encoder = new TextEncoder()

function parse(bytes: Uint8Array): TextAnswer {
  const parsed = parseYamlBytes(bytes)
  if (parsed.kind === 'malformed') return parsed
  const { value, repeats, hasBigIntegers } = parsed
  if (hasTooManyValues(value)) return { kind: 'tooManyValues' }
  if (hasBigIntegers) return { kind: 'value', value, repeats, hasBigIntegers }
  return { kind: 'json', bytes: encoder.encode(JSON.stringify(value)), repeats }
}

/** Our own JSON, with exact integers beyond 2^53. */
function readExactly(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  return parseWithSource(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value,
  )
}

/** Node's parser passes a number's own text, which TypeScript's types do not know yet. */
const parseWithSource = JSON.parse as (
  text: string,
  revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown
