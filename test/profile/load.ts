import { bodyRequest, Connection, getRequest } from '../bench/http1-load.ts'
import type { Shown } from '../bench/orch-server.ts'

/** The operations that the tool can profile, with the number of parallel requests. */
export const operations = { create: 64, get: 64, put: 16, patch: 16, apply: 16, delete: 16, list: 8, table: 8, gzip: 8 } as const

/** One of `operations`. */
export type Operation = keyof typeof operations

export function isOperation(text: string): text is Operation {
  return Object.hasOwn(operations, text)
}

const pods = '/api/v1/namespaces/default/pods'
let serial = 0

/** The headers of lists: as objects, as a Table, compressed. */
const listHeaders: Readonly<Record<string, Record<string, string>>> = {
  list: {},
  table: { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' },
  gzip: { 'accept-encoding': 'gzip' },
}
/** The number of listed Pods. */
const listedMax = 500

/** The members that the load reads from a created Pod. */
export interface PodBody {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> } & Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

/** A Pod of about 3 KB in the usual form. The answer has 7 KB with defaults, field owners and the plugins' additions. */
export function pod(name: string, note = ''): PodBody {
  const container = (of: string, index: number) => ({
    name: of,
    image: `registry.example.com/team/${of}:1.${index}.7`,
    args: ['--listen=:8080', `--name=${of}`, '--verbose=2', '--shutdown-delay=15s'],
    ports: [{ name: 'http', containerPort: 8080 + index, protocol: 'TCP' }],
    env: ['LEVEL', 'REGION', 'ADDRESS', 'DATABASE', 'TRACING', 'QUEUE', 'CACHE'].map((key) => ({
      name: `${of.toUpperCase()}_${key}`,
      value: `the ${key.toLowerCase()} of ${of}, as it is set where it is deployed`,
    })),
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '500m', memory: '256Mi' } },
    readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 5 },
    livenessProbe: { httpGet: { path: '/live', port: 8080 }, initialDelaySeconds: 10 },
    volumeMounts: [
      { name: 'config', mountPath: `/etc/${of}` },
      { name: 'cache', mountPath: '/var/cache' },
    ],
  })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { 'app.example.com/name': 'shop', 'app.example.com/part': 'frontend', tier: 'web', release: 'stable' },
      annotations: { 'example.com/note': note, 'example.com/owner': 'team-shop@example.com' },
    },
    spec: {
      containers: ['server', 'sidecar'].map(container),
      volumes: [
        { name: 'config', configMap: { name: 'shop-config' } },
        { name: 'cache', emptyDir: {} },
      ],
      nodeSelector: { 'example.com/pool': 'general' },
      tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'shop', effect: 'NoSchedule' }],
    },
  }
}

/** Opens the connections and creates the objects that the operation needs. */
export async function openLoad(operation: Operation, ports: readonly number[], shown: Shown) {
  const concurrency = operations[operation]
  const connections = await Promise.all(
    Array.from({ length: concurrency }, (_, index) => Connection.open(ports[index % ports.length] ?? 0, shown)),
  )
  const prefix = `${operation}-${process.pid}`
  const made = await Promise.all(connections.map((connection, index) => makeReady(connection, operation, `${prefix}-${index}`)))
  if (operation in listHeaders)
    await Promise.all(connections.map((connection, index) => makeListed(connection, { prefix, index, of: concurrency })))
  return {
    /** Sends for a given time or a given number; returns the number of answers and this process's CPU time per answer in microseconds. */
    async run(durationMs: number, countMax = Number.POSITIVE_INFINITY) {
      const before = process.cpuUsage()
      const began = performance.now()
      let count = 0
      await Promise.all(
        connections.map(async (connection, index) => {
          const name = `${prefix}-${index}`
          while (performance.now() - began < durationMs && count < countMax) {
            if (operation === 'delete') await send(connection, create(name), 201)
            const { request, expected } = requestOf(operation, name, made[index])
            await send(connection, request, expected)
            count++
          }
        }),
      )
      const seconds = (performance.now() - began) / 1000
      const { user, system } = process.cpuUsage(before)
      return { count, perSecond: count / seconds, ownMicros: (user + system) / count }
    },
    close() {
      for (const connection of connections) connection.close()
    },
  }
}

/** The members of an answered Pod that a load changes. */
interface Made {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>>; readonly resourceVersion?: string }
}

/** Creates a connection's object. The server may refuse the first creates, because the Pods' account appears shortly after the start. */
async function makeReady(connection: Connection, operation: Operation, name: string): Promise<Made> {
  for (let attempt = 0; ; attempt++) {
    const { status, body } = await connection.send(create(operation === 'delete' ? `${name}-first` : name), true)
    if (status === 201) return JSON.parse(String(body))
    if (attempt > 200) throw new Error(`a Pod cannot be made: ${status} ${body}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Creates this connection's part of the listed Pods. */
async function makeListed(connection: Connection, { prefix, index, of }: { prefix: string; index: number; of: number }): Promise<void> {
  for (let listed = of + index; listed < listedMax; listed += of) await send(connection, create(`${prefix}-${listed}`), 201)
}

/** The Pod that a client has read and sends back. */
function changed(made: Made, note: string): unknown {
  const { resourceVersion: _, annotations, ...metadata } = made.metadata
  return { ...made, metadata: { ...metadata, annotations: { ...annotations, 'example.com/note': note } } }
}

function create(name: string): Buffer {
  return bodyRequest('POST', pods, pod(name))
}

function requestOf(operation: Operation, name: string, made: Made | undefined): { request: string | Buffer; expected: number } {
  const path = `${pods}/${name}`
  const note = `change ${serial++}`
  switch (operation) {
    case 'create':
      return { request: create(`${name}-${serial}`), expected: 201 }
    case 'list':
    case 'table':
    case 'gzip':
      return { request: getRequest(pods, listHeaders[operation]), expected: 200 }
    case 'get':
      return { request: getRequest(path), expected: 200 }
    case 'put':
      return { request: bodyRequest('PUT', path, made === undefined ? pod(name, note) : changed(made, note)), expected: 200 }
    case 'patch':
      return {
        request: bodyRequest('PATCH', path, { metadata: { annotations: { 'example.com/note': note } } }, 'application/merge-patch+json'),
        expected: 200,
      }
    case 'apply':
      return {
        request: bodyRequest('PATCH', `${path}?fieldManager=profile&force=true`, pod(name, note), 'application/apply-patch+yaml'),
        expected: 200,
      }
    case 'delete':
      return {
        request: `DELETE ${path}?gracePeriodSeconds=0 HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\n\r\n`,
        expected: 200,
      }
  }
}

async function send(connection: Connection, request: string | Buffer, expected: number): Promise<void> {
  const { status, head } = await connection.send(request)
  if (status !== expected) throw new Error(`answered ${status} where ${expected} was expected: ${head}`)
}
