import { isDeepStrictEqual } from 'node:util'
import { type Answer, type Api, created, until } from '../api/api.ts'
import { requestsBetween } from './between.ts'
import type { RecordedAnswer, RecordedCase, RecordedRequest } from './cases.ts'
import { blank, fill, fillText, recordedNamespace } from './placeholders.ts'

/** Both answers to one request, without the parts that differ between runs. */
export interface Outcome {
  readonly name: string
  readonly recorded: RecordedAnswer
  readonly ours: RecordedAnswer
}

/** Sends all requests in order. Each waits until the controllers' effects that its recorded answer shows have happened. */
export async function replay(api: Api, cases: readonly RecordedCase[]): Promise<Outcome[]> {
  const { namespaced } = await aPlaceToReplay(api)
  const outcomes: Outcome[] = []
  for (const one of cases) {
    for (const request of requestsBetween[one.name] ?? []) await sendBetween(api, one.name, request)
    await settled(api, one.name, namespaced)
    const answer = await sendRecorded(api, one.request, one.name.startsWith('create ') ? 't/1' : undefined)
    const { status, contentType, warning, body } = one.answer
    const recorded = comparable(status, contentType, warning, body)
    const ours = answerOf(answer)
    if (!isInMapOrder.has(one.name)) outcomes.push({ name: one.name, recorded, ours })
    else outcomes.push({ name: one.name, recorded: withSortedCauses(recorded), ours: withSortedCauses(ours) })
  }
  return outcomes
}

async function aPlaceToReplay(api: Api): Promise<{ namespaced: string }> {
  const namespaced = `/api/v1/namespaces/${recordedNamespace}`
  await created(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: recordedNamespace } })
  await until(
    () => api.get(`${namespaced}/serviceaccounts/default`),
    ({ status }) => status === 200,
  )
  return { namespaced }
}

/** Controllers work concurrently; the test waits for their writes if the recorded answers show them. */
async function settled(api: Api, name: string, namespaced: string): Promise<void> {
  const used = usedBefore[name]
  if (used === undefined) return
  await until(
    () => api.get(`${namespaced}/resourcequotas/rq`),
    ({ body }) => isMatch((body.status as { used?: object } | undefined)?.used, used),
  )
}

/** The quota's count before a case. */
const usedBefore: Readonly<Record<string, object>> = {
  'create PodTemplate pt': {},
  'table ResourceQuota rq': { configmaps: '2', 'count/deployments.apps': '1', 'requests.cpu': '4' },
  'delete ResourceQuota rq': { configmaps: '5', 'count/deployments.apps': '0' },
}

function isMatch(used: object | undefined, expected: object): boolean {
  return used !== undefined && isDeepStrictEqual({ ...used, ...expected }, used)
}

async function sendBetween(api: Api, name: string, request: RecordedRequest): Promise<void> {
  const { status, text } = await sendRecorded(api, request)
  if (status >= 300) throw new Error(`a request before ${JSON.stringify(name)} was answered ${status}: ${text}`)
}

function sendRecorded(api: Api, { method, path, contentType, headers = {}, body }: RecordedRequest, userAgent?: string): Promise<Answer> {
  const sent = body === undefined ? {} : { body: fill(body) }
  return api.send(method, fillText(path), {
    ...sent,
    headers: {
      ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...Object.fromEntries(Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value])),
    },
  })
}

function answerOf({ status, headers, text }: Answer): RecordedAnswer {
  const contentType = headers['content-type']
  return comparable(
    status,
    contentType,
    headers.warning as string | undefined,
    contentType === 'application/json' ? JSON.parse(text) : text,
  )
}

function comparable(status: number, contentType: string | undefined, warning: string | undefined, body: unknown): RecordedAnswer {
  return {
    status,
    ...(contentType === undefined ? {} : { contentType }),
    ...(warning === undefined ? {} : { warning }),
    body: JSON.parse(JSON.stringify(blank(body))) as unknown,
  }
}

/** Cases whose causes kube-apiserver finds by walking a Go map, so their order differs each time. */
const isInMapOrder: ReadonlySet<string> = new Set(['invalid cm key bad', 'invalid cm label bad', 'invalid quota frac'])

interface Failure {
  readonly message: string
  readonly details: { readonly causes: readonly { readonly field: string; readonly message: string }[] }
}

/** The same failure with sorted causes, also in the message. */
function withSortedCauses(answer: RecordedAnswer): RecordedAnswer {
  const failure = answer.body as Failure
  const { causes } = failure.details
  const printed = (list: typeof causes) => `[${list.map(({ field, message }) => `${field}: ${message}`).join(', ')}]`
  const sorted = [...causes].sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))
  const message = failure.message.replace(printed(causes), printed(sorted))
  return { ...answer, body: { ...failure, message, details: { ...failure.details, causes: sorted } } }
}
