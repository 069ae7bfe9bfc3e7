import { readFileSync } from 'node:fs'
import { systemClock } from '@orch/platform'
import { beforeAll, expect, test } from 'vitest'
import { type Answer, aName, aNamespace, sharedApi } from '../api/api.ts'
import { otherwise, otherwiseOf } from './machinery-differences.ts'

/** A request, and the compared part of the answer. */
interface Case {
  readonly file: string
  readonly name: string
  readonly request: {
    readonly method: string
    readonly path: string
    readonly type?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: unknown
  }
  readonly status?: number | readonly number[]
  readonly contentType?: string
  readonly header?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly messageHas?: string | readonly string[]
  readonly warningHas?: string | readonly string[]
  readonly noWarning?: boolean
  readonly textHas?: string | readonly string[]
  readonly textLacks?: string | readonly string[]
  /** Texts of the answer that later requests insert: name → path in the body. */
  readonly save?: Readonly<Record<string, string>>
}

const cases = readFileSync(new URL('machinery.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)

/** Answers contain ages of fixed dates, so the server's clock shows the day of the recordings. */
const sinceRecordingMs = Date.now() - Date.parse('2026-11-28T12:00:00Z')
const clock = { ...systemClock, now: () => systemClock.now() - sinceRecordingMs }

const server = sharedApi({ profile: 'kubernetes', clock, flags: ['--emulated-version=1.37'] })
/** The differences by file and case name. */
const differences = new Map<string, readonly string[]>()

beforeAll(async () => {
  for (const file of new Set(cases.map((one) => one.file))) {
    const texts: Record<string, string> = { NS: await aNamespace(server.api), UU: aName('m') }
    await ask({ method: 'POST', path: `/api/v1/namespaces/${texts['NS']}/serviceaccounts`, body: { metadata: { name: 'default' } } })
    for (const one of cases.filter((other) => other.file === file)) {
      const answer = await ask(filled(one.request, texts))
      differences.set(`${file}: ${one.name}`, differencesOf(filled(one, texts), answer))
      for (const [name, path] of Object.entries(one.save ?? {})) texts[name] = String(at(answer.body, path))
    }
  }
})

function ask({ method, path, type, headers = {}, body }: Case['request']): Promise<Answer> {
  const sent: Record<string, string> = { accept: 'application/json' }
  if (body !== undefined) sent['content-type'] = type ?? 'application/json'
  for (const [name, value] of Object.entries(headers)) sent[name.toLowerCase()] = value
  return server.api.send(method, path, { headers: sent, body: bytesOf(body) })
}

/** Binary bodies are stored in base64. */
function bytesOf(body: unknown): unknown {
  const isBase64 = typeof body === 'object' && body !== null && 'base64' in body && Object.keys(body).length === 1
  return isBase64 ? Buffer.from(String(body.base64), 'base64') : body
}

/** `NS` is the namespace of the file, `UU` the suffix of its names, `${name}` a value of an earlier answer, and `${x*N}` N letters. */
function filled<T>(value: T, texts: Readonly<Record<string, string>>): T {
  const text = JSON.stringify(value)
    .replace(/\$\{x\*(\d+)\}/g, (_, count) => 'x'.repeat(Number(count)))
    .replace(/\$\{(\w+)\}/g, (found, name) => texts[name] ?? found)
    .replace(/(?<![A-Za-z0-9])(NS|UU)(?![A-Za-z0-9])/g, (_, name) => texts[name] ?? '')
  return JSON.parse(text)
}

const listOf = (texts: string | readonly string[] = []): readonly string[] => [texts].flat()

/** The parts of an answer that differ from the recording. */
function differencesOf(wanted: Case, { status, headers, body, text }: Answer): string[] {
  const found: string[] = []
  const statuses = wanted.status === undefined ? [status] : [wanted.status].flat()
  if (!statuses.includes(status)) found.push(`status ${status} instead of ${statuses}: ${text.slice(0, 300)}`)
  const contentType = headers['content-type'] ?? ''
  if (wanted.contentType !== undefined && !new RegExp(wanted.contentType).test(contentType)) found.push(`content type ${contentType}`)
  for (const [name, pattern] of Object.entries(wanted.header ?? {})) {
    const value = headers[name]
    const isRight = pattern === '<absent>' ? value === undefined : new RegExp(pattern).test(String(value))
    if (!isRight) found.push(`${name}: ${value} instead of ${pattern}`)
  }
  if (wanted.body !== undefined) found.push(...valueDifferences(wanted.body, body, 'body'))
  const message = String(body['message'])
  for (const one of listOf(wanted.messageHas)) if (!message.includes(one)) found.push(`message without ${one}: ${message}`)
  const warning = String(headers['warning'] ?? '')
  for (const one of listOf(wanted.warningHas)) if (!warning.includes(one)) found.push(`warning without ${one}: ${warning}`)
  if (wanted.noWarning === true && warning !== '') found.push(`warning: ${warning}`)
  for (const one of listOf(wanted.textHas)) if (!text.includes(one)) found.push(`text without ${one}: ${text.slice(0, 300)}`)
  for (const one of listOf(wanted.textLacks)) if (text.includes(one)) found.push(`text with ${one}`)
  return found
}

/** The given members must be equal, and lists must have the given length. */
function valueDifferences(wanted: unknown, value: unknown, path: string): string[] {
  if (wanted === '<absent>') return value === undefined ? [] : [`${path} is there: ${JSON.stringify(value)}`]
  if (wanted === '<any>') return value === undefined ? [`${path} is absent`] : []
  if (Array.isArray(wanted) && Array.isArray(value) && wanted.length === value.length)
    return wanted.flatMap((item, index) => valueDifferences(item, value[index], `${path}[${index}]`))
  if (isObject(wanted) && isObject(value))
    return Object.entries(wanted).flatMap(([name, member]) => valueDifferences(member, value[name], `${path}.${name}`))
  return wanted === value ? [] : [`${path}: ${JSON.stringify(value)} instead of ${JSON.stringify(wanted)}`]
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function at(body: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), body)
}

/** Requirements with the case files, and the cases of each requirement. */
const statements: readonly (readonly [ids: string, file: string, about: RegExp])[] = [
  ['MACH-YAML-01', 'yaml', /octal|hexadecimal|underscores|for an integer/],
  ['MACH-YAML-02', 'yaml', /for a boolean|(?:no|y|1|null) for a text/],
  ['MACH-YAML-03', 'yaml', /(?:date|time|parts|\.inf|0o17|1_0|=) for a text|<< as a value|custom: (?:date|\.inf)/],
  ['MACH-YAML-04', 'yaml', /^key |a list as a key|custom: key/],
  ['MACH-YAML-05', 'yaml', /merge key/],
  ['MACH-YAML-06', 'yaml', /duplicate key|unknown field/],
  ['MACH-YAML-07', 'yaml', /documents?\b|document end|empty body|comment alone/],
  ['MACH-YAML-08', 'yaml', /directive|tag |alias|tabs|control character|byte order|folded/],
  ['MACH-YAML-09', 'yaml', /^a text as YAML/],
  ['MACH-TEXT-01', 'texts', /half|pair|UTF-8/],
  ['MACH-NUM-01', 'numbers', /replicas|activeDeadlineSeconds|targetPort/],
  ['MACH-NUM-02', 'numbers', /^custom/],
  ['MACH-NUM-03', 'numbers', /cpu request/],
  ['MACH-TIME-01', 'times', /renewTime|eventTime/],
  ['MACH-TIME-02', 'times', /creationTimestamp|startTime/],
  ['MACH-WRITE-01', 'queries', /dryRun/],
  ['MACH-WRITE-02', 'queries', /\?(?:timeout|fieldManager)=/],
  ['MACH-WRITE-03', 'patchrv', /^POST with resourceVersion/],
  ['MACH-WRITE-04', 'patchrv', /"(?:abc|-1|0x10|1\.5| 1|18446744073709551616)"/],
  ['MACH-WRITE-05', 'patchrv', /apply of an absent object/],
  ['MACH-WRITE-06', 'clusterns', /./],
  ['MACH-WRITE-08', 'more', /managedFields/],
  ['MACH-WRITE-09', 'claims', /./],
  ['MACH-WRITE-10', 'more', /stringData/],
  ['MACH-WRITE-11', 'more', /namespace label/],
  ['MACH-WRITE-14', 'more', /without |whose containers are null/],
  ['MACH-WRITE-15', 'more', /generateName/],
  ['MACH-WRITE-17', 'patchrv', /merge patch null|merge patch, empty|JSON patch (?:object|test|of an absent)/],
  ['MACH-READ-01', 'queries', /^get \?(?:limit|fieldSelector)/],
  ['MACH-READ-02', 'queries', /^list \?(?:limit|resourceVersion|timeoutSeconds|labelSelector)=/],
  ['MACH-READ-04', 'queries', /^list \?continue=/],
  ['MACH-READ-05', 'queries', /^deletecollection/],
  ['MACH-READ-10', 'columns', /./],
  ['MACH-DEL-01', 'queries', /^DELETE /],
  ['MACH-READ-09', 'texts', /CBOR|media type/],
  ['MACH-CRD-01', 'crdnew', /^ratcheting/],
  ['MACH-CRD-02', 'crdnew', /^selectable/],
  ['MACH-CRD-03', 'cel', /./],
  ['MACH-POL-01', 'policies', /^VAP refused/],
  ['MACH-DISC-01', 'discovery', /aggregated v2/],
  ['MACH-DISC-02', 'discovery', /Table|XML|unknown version|v2beta1/],
  ['MACH-OAPI-01', 'discovery', /^\/openapi/],
  ['MACH-WATCH-03', 'queries', /^watch \?.*(?:resourceVersionMatch|continue)=/],
  ['MACH-DEL-02', 'queries', /ignoreStoreRead/],
  ['MACH-WRITE-16', 'clusterns', /: PUT/],
  ['MACH-ID-02', 'access', /bound to a node/],
  ['MACH-ID-03', 'access', /of another (?:uid|service account)/],
  ['MACH-ID-04', 'access', /impersonat/],
  ['MACH-ID-05', 'access', /SelfSubjectReview/],
  ['MACH-ID-06', 'access', /access review/],
]

/** The differences of a case beyond the listed differences. */
function unlisted(name: string): string[] {
  const { allows } = otherwiseOf(name) ?? {}
  return (differences.get(name) ?? [`${name} was not sent`]).filter((found) => allows?.test(found) !== true)
}

test.each(statements)('%s: recorded cases get equal answers (%s)', (_ids, file, about) => {
  const chosen = cases.filter((one) => one.file === file && about.test(one.name)).map(({ name }) => `${file}: ${name}`)
  expect(chosen).not.toEqual([])
  expect(Object.fromEntries(chosen.map((name) => [name, unlisted(name)]))).toEqual(Object.fromEntries(chosen.map((name) => [name, []])))
})

test('cases without a statement get the recorded answers, and listed differences belong to existing cases', () => {
  const found = [...differences.keys()].flatMap((name) => unlisted(name).map((difference) => `${name}: ${difference}`))
  expect(found).toEqual([])
  expect(otherwise.flatMap((one) => one.cases).filter((name) => !differences.has(name))).toEqual([])
})
