import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { type ClientConfiguration, parseConfiguration } from '@orch/client'
import { clusterMode, sharedBackends } from '@orch/testkit'
import { type StartOptions, start } from 'orch'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type WatchAnswer, WatchReader } from './watch-reader.ts'

/** A received object; a test states its expected members. */
export interface Body {
  kind: string
  apiVersion: string
  metadata: Metadata
  items: Body[]
  [field: string]: unknown
}

interface Metadata {
  name: string
  namespace: string
  uid: string
  resourceVersion: string
  generation: number
  creationTimestamp: string
  deletionTimestamp: string
  finalizers: string[]
  labels: Record<string, string>
  continue: string
  [field: string]: unknown
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The text read as JSON; `{}` where it is none. */
  body: Body
}

export interface Sending {
  headers?: Record<string, string>
  /** Text and bytes are sent unchanged, any other value as JSON. */
  body?: unknown
  /** The target is not below the path that the server was given. */
  isOutsidePrefix?: boolean
}

/** The sender of a request: an anonymous client, or the holder of a certificate. */
export interface Identity {
  cert?: string | undefined
  key?: string | undefined
}

/** A server reached over HTTP and in no other way, so that it does not matter how its services are joined. */
export class Api {
  /** The URL of the first gateway. */
  readonly url: string
  readonly #urls: readonly URL[]
  #requests = 0
  readonly #configuration: ClientConfiguration
  readonly #agents: Agent[] = []
  readonly #admin: Agent
  readonly #stop: () => Promise<void>
  readonly #watches = new Set<WatchReader>()

  constructor(urls: readonly string[], configuration: ClientConfiguration, stop: () => Promise<void>) {
    this.url = urls[0] ?? ''
    this.#urls = urls.map((url) => new URL(url))
    this.#configuration = configuration
    this.#stop = stop
    this.#admin = this.#agentFor({ cert: configuration.clientCertificate, key: configuration.clientKey })
  }

  /** The administrator's credentials for a connection. */
  get credentials(): { ca: string | undefined; cert: string | undefined; key: string | undefined } {
    const { certificateAuthority, clientCertificate, clientKey } = this.#configuration
    return { ca: certificateAuthority, cert: clientCertificate, key: clientKey }
  }

  /** The connections of the administrator. */
  get agent(): Agent {
    return this.#admin
  }

  /** Sends one request as the administrator. The target is sent unchanged. */
  send(method: string, target: string, sending: Sending = {}): Promise<Answer> {
    return this.#send(this.#admin, method, target, sending)
  }

  get(target: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('GET', target, { headers })
  }

  /** From each gateway one answer. */
  getFromEach(target: string): Promise<Answer[]> {
    return Promise.all(this.#urls.map(() => this.get(target)))
  }

  post(target: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('POST', target, { body, headers })
  }

  put(target: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('PUT', target, { body, headers })
  }

  /** A patch: an array is a JSON patch, anything else a merge patch. */
  patch(target: string, body: unknown): Promise<Answer> {
    const type = Array.isArray(body) ? 'application/json-patch+json' : 'application/merge-patch+json'
    return this.send('PATCH', target, { body, headers: { 'content-type': type } })
  }

  delete(target: string, body?: unknown): Promise<Answer> {
    return this.send('DELETE', target, body === undefined ? {} : { body })
  }

  /** The same server for someone else. */
  as(identity: Identity): (method: string, target: string, sending?: Sending) => Promise<Answer> {
    const agent = this.#agentFor(identity)
    return (method, target, sending = {}) => this.#send(agent, method, target, sending)
  }

  /** Opens a watch; it ends with the test. */
  async watch(target: string, headers: Record<string, string> = {}): Promise<WatchAnswer> {
    const { pathname, hostname, port } = this.#nextGateway()
    const path = `${pathname === '/' ? '' : pathname}${target}`
    const reader = new WatchReader(httpsRequest({ method: 'GET', hostname, port, path, agent: this.#admin, headers }))
    this.#watches.add(reader)
    onTestFinished(() => reader.close())
    return reader.opened()
  }

  async stop(): Promise<void> {
    for (const watch of this.#watches) watch.close()
    for (const agent of this.#agents) agent.destroy()
    await this.#stop()
  }

  /** The next gateway in turn. */
  #nextGateway(): URL {
    const url = this.#urls[this.#requests % this.#urls.length]
    this.#requests += 1
    if (url === undefined) throw new Error('there is no gateway')
    return url
  }

  #agentFor({ cert, key }: Identity): Agent {
    const agent = new Agent({ keepAlive: true, ca: this.#configuration.certificateAuthority, cert, key })
    this.#agents.push(agent)
    return agent
  }

  #send(agent: Agent, method: string, target: string, { headers = {}, body, isOutsidePrefix = false }: Sending): Promise<Answer> {
    const { pathname, hostname, port } = this.#nextGateway()
    const path = `${pathname === '/' || isOutsidePrefix ? '' : pathname}${target}`
    const isReady = typeof body === 'string' || body instanceof Uint8Array
    const bytes = body === undefined ? undefined : Buffer.from(isReady ? body : JSON.stringify(body))
    const all = bytes === undefined ? headers : { 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers }
    return new Promise((resolve, reject) => {
      const request = httpsRequest({ method, hostname, port, path, agent, headers: all }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: bodyOf(text) })
        })
      })
      request.on('error', reject)
      request.end(bytes)
    })
  }
}

function bodyOf(text: string): Body {
  try {
    return JSON.parse(text) as Body
  } catch {
    return {} as Body
  }
}

/** A server of a test's own. Its user stops it. */
export async function openApi(options: StartOptions = {}): Promise<Api> {
  const { urls, kubeconfig, stop } = clusterMode() === 'embedded' ? await openEmbedded(options) : await openDistributed(options)
  return new Api(urls, await parseConfiguration(kubeconfig), stop)
}

interface Opened {
  readonly urls: readonly string[]
  readonly kubeconfig: string
  readonly stop: () => Promise<void>
}

async function openEmbedded(options: StartOptions): Promise<Opened> {
  const { url, kubeconfig, stop } = await start({ freezesLinks: true, ...options })
  return { urls: [url], kubeconfig, stop }
}

/** Two of each service that may have several, over a state of their own. */
async function openDistributed(options: StartOptions): Promise<Opened> {
  const { startDistributed } = await import('orch/distributed')
  return startDistributed(options, { ...(await sharedBackends()), gateways: 2, storages: 2, watches: 2, admissions: 1 })
}

/** A server that ends with the test. */
export async function anApi(options: StartOptions = {}): Promise<Api> {
  const api = await openApi(options)
  onTestFinished(() => api.stop())
  return api
}

/** One server for all tests of a file. */
export function sharedApi(options: StartOptions = {}): { readonly api: Api } {
  let api: Api | undefined
  beforeAll(async () => {
    api = await openApi(options)
  })
  afterAll(() => api?.stop())
  return {
    get api() {
      if (api === undefined) throw new Error('the server is there only while tests run')
      return api
    },
  }
}

/** Names sort in the order in which they are given: their numbers have one length. */
let namesGiven = 10_000

/** A name that no other test uses. */
export function aName(prefix = 'x'): string {
  return `${prefix}-${++namesGiven}`
}

/** A namespace of the test's own; gives its name. */
export async function aNamespace(api: Api): Promise<string> {
  const name = aName('ns')
  const { status, text } = await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  if (status !== 201) throw new Error(`the namespace ${name} was not created: ${text}`)
  return name
}

export interface ConfigMapFields {
  name?: string
  data?: Record<string, string>
  [metadata: string]: unknown
}

/** A ConfigMap whose namespace comes from the path; all but data is metadata. */
export function configMap({ data, ...metadata }: ConfigMapFields = {}): Record<string, unknown> {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...(data === undefined ? {} : { data }) }
}

/** The path of the ConfigMaps of a namespace. */
export function configMapsIn(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps`
}

/** Creates ConfigMaps with these names in a namespace of their own; gives the collection's path. */
export async function someConfigMaps(api: Api, ...names: readonly string[]): Promise<string> {
  const path = configMapsIn(await aNamespace(api))
  for (const name of names) await created(api, path, configMap({ name }))
  return path
}

/** Creates an object and gives it back; anything but a 201 fails the test. */
export async function created(api: Api, path: string, object: unknown): Promise<Body> {
  const answer = await api.post(path, object)
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
  return answer.body
}

export function namesOfItems({ items }: Body): string[] {
  return items.map(({ metadata }) => metadata.name)
}

/** The body of a failure, whole. */
export function failure(code: number, reason: string, message: string, details?: unknown): Record<string, unknown> {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code }
  return details === undefined ? status : { ...status, details }
}

/** Between two questions: without it they would take the processor from what they wait for. */
const aMoment = () => new Promise((resolve) => setTimeout(resolve, 10))

/** Answers in a row by which everybody knows: two from each of the gateways, which take turns. */
const answersInARow = 4

/** Asks until the answer is as wanted from all gateways: each hears of a change in its own time. */
export async function untilEverywhere(ask: () => Promise<Answer>, isWanted: (answer: Answer) => boolean): Promise<Answer> {
  for (let wanted = 0; ; ) {
    const answer = await ask()
    wanted = isWanted(answer) ? wanted + 1 : 0
    if (wanted === answersInARow) return answer
    if (wanted === 0) await aMoment()
  }
}

/** Asks until the answer is as wanted; the test's own time is the bound. */
export async function until(ask: () => Promise<Answer>, isWanted: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (isWanted(answer)) return answer
    await aMoment()
  }
}
