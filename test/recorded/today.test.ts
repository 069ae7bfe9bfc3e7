import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { aName, aNamespace, sharedApi } from '../api/api.ts'

/** A request, and the answer of kube-apiserver 1.37.2, or of the release of its level. */
interface Case {
  /** The group of the case. The test sends the cases of a group in order in a separate namespace. */
  readonly file: string
  readonly name: string
  /** The only level of the case; undefined for all others. */
  readonly level?: string
  readonly request: {
    readonly method: string
    readonly path: string
    readonly type?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: unknown
  }
  readonly status: number
  readonly contentType: string
  readonly warning?: string
  readonly body: unknown
  /** The members of the answer that differ at a level, of the emulating server or of kube-apiserver 1.34.4; a text gives the reason why a server of that release answers differently. */
  readonly at?: Readonly<Record<string, Partial<Answer> | string>>
}

interface Answer extends Pick<Case, 'status' | 'contentType' | 'body'> {
  /** Null at a level: no warning at that level. */
  readonly warning?: string | null | undefined
}

const cases = ['today.jsonl', 'releases.jsonl']
  .flatMap((name) =>
    readFileSync(new URL(name, import.meta.url), 'utf8')
      .trimEnd()
      .split('\n'),
  )
  // Ports of the static part, which no other Service gets by chance.
  .map((line): Case => JSON.parse(line.replaceAll(/\b3100(?=[1-5]\b)/g, '3000')))
const files = [...new Set(cases.map(({ file }) => file))]

const servers = {
  '1.37': serverAt('1.37'),
  '1.36': serverAt('1.36'),
  '1.35': serverAt('1.35'),
  '1.34': serverAt('1.34'),
  '1.33': serverAt('1.33'),
  '1.30': serverAt('1.30'),
  '1.28': serverAt('1.28'),
  '1.25': serverAt('1.25'),
}
type Level = keyof typeof servers
const levels = Object.keys(servers) as Level[]
const answers = new Map<string, unknown>()

/** The groups of each level: all without a level of their own at the newest, and at older levels the groups with other answers there. */
const groups = levels.flatMap((level) =>
  files
    .filter((file) =>
      cases.some(
        (one) =>
          one.file === file &&
          (one.level ?? level) === level &&
          (one.level === level || level === levels[0] || one.at?.[level] !== undefined),
      ),
    )
    .map((file) => [level, file] as const),
)

/** The quota controller does not run: it did not run during the recording, and it writes at any time. */
function serverAt(level: string) {
  const flags = [`--emulated-version=${level}`, '--controllers=*,-resourcequota']
  return sharedApi({ profile: 'kubernetes', flags, serviceClusterIpRange: '10.96.0.0/16' })
}

beforeAll(async () => {
  for (const [level, file] of groups) {
    const { api } = servers[level]
    const texts: Texts = { NS: await aNamespace(api), UU: aName('u') }
    const ofFile = cases.filter((other) => other.file === file)
    const sent = JSON.stringify(ofFile.map(({ request }) => request))
    for (const one of ofFile) answers.set(keyOf(level, one), await answerTo(one, api, { texts, sent, asked: JSON.stringify(one.request) }))
  }
})

function keyOf(level: Level, one: Case): string {
  return `${level} ${cases.indexOf(one)}`
}

test.each(groups)(
  'TODAY: at %s the answers about %s equal those of kube-apiserver 1.37.2 at this level, or of that release',
  (level, file) => {
    for (const one of cases.filter((other) => other.file === file)) {
      const { name, status, contentType, warning, body, at } = one
      const other = at?.[level]
      const answer: Answer = { status, contentType, warning, body, ...(typeof other === 'string' ? {} : other) }
      const [had, wanted] = [answers.get(keyOf(level, one)), { ...answer, warning: answer.warning ?? undefined }]
      if (typeof other === 'string') expect({ name, answer: had }, other).not.toEqual({ name, answer: wanted })
      else expect({ name, answer: had }).toEqual({ name, answer: wanted })
    }
  },
)

/** The namespace and the name suffix of one group of cases. */
interface Texts {
  readonly NS: string
  readonly UU: string
}

async function answerTo({ request }: Case, api: ReturnType<typeof sharedApi>['api'], own: Own): Promise<object> {
  const { method, path, type, headers = {}, body } = filled(request, own.texts)
  const sent = { accept: 'application/json', ...headers, ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }) }
  const answer = await api.send(method, path, { headers: sent, body })
  const { warning, 'content-type': contentType = '' } = answer.headers
  const told = typeof warning === 'string' ? blankText(warning, own) : undefined
  return { status: answer.status, contentType, warning: told, body: blank(answer.body, own) }
}

function filled<T>(value: T, { NS, UU }: Texts): T {
  return JSON.parse(
    JSON.stringify(value)
      .replaceAll('UU', UU)
      .replace(/\bNS\b/g, NS),
  )
}

/** The texts of a group and its requests, whose values do not come from the server. */
interface Own {
  readonly texts: Texts
  readonly sent: string
  /** The compared request; the server allocates the addresses of other requests. */
  readonly asked: string
}

const uids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const addresses = /\b10\.96\.\d+\.\d+\b/g
const times = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g

/** The Pods' account belongs to the namespace, whose controller does not run here. */
const leftOut: ReadonlySet<string> = new Set(['managedFields', 'serviceAccount', 'serviceAccountName'])

/** An answer without the values that differ between runs. */
function blank(value: unknown, own: Own, name = ''): unknown {
  if (Array.isArray(value)) {
    return name === 'columnDefinitions' ? value.map(({ description: _, ...column }) => column) : value.map((item) => blank(item, own, name))
  }
  if (typeof value === 'object' && value !== null) {
    const kept = Object.entries(value).filter(([member]) => !leftOut.has(member))
    return Object.fromEntries(kept.map(([member, item]) => [blankText(member, own), blank(item, own, member)]))
  }
  if (name === 'nodePort' && typeof value === 'number') return own.sent.includes(String(value)) ? value : 'PORT'
  if (typeof value !== 'string') return value
  if (name === 'uid' && /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(value)) return 'UID'
  if (name === 'resourceVersion' && /^\d+$/.test(value)) return 'RV'
  if (name === 'continue' && value !== '') return 'CONTINUE'
  if (name === 'cells' && /^(\d+[smhd]){1,2}$/.test(value)) return 'AGE'
  return blankText(value, own)
}

/** The difference of two objects in a message. */
const differences = /\n@@[\s\S]*$/

function blankText(text: string, { texts, sent, asked }: Own): string {
  return text
    .replace(differences, '\n<dump>')
    .replaceAll(texts.NS, 'NS')
    .replaceAll(texts.UU, 'UU')
    .replace(uids, (uid) => (sent.includes(uid) ? uid : 'UID'))
    .replace(addresses, (address) => (asked.includes(address) ? address : 'SVCIP'))
    .replace(times, (time) => (sent.includes(time) ? time : 'TS'))
}
