import { setTimeout } from 'node:timers/promises'
import { pod } from '../../profile/load.ts'
import type { Connection } from '../http1-load.ts'
import type { Sent, Side } from './side.ts'

/** The amount of work in a run. */
export interface Extent {
  readonly roundMs: number
  /** The largest number of connections of a line; absent: the number in its label. */
  readonly connectionsMax?: number
  /** The number of objects in the lists. */
  readonly objects: number
  readonly watchers: number
  readonly steadyWatchers: number
  /** The number of events in a round. */
  readonly events: number
}

/** The work of one round. */
export interface Round {
  readonly operations: number
  readonly seconds: number
}

/** One line of the comparison. */
export interface Measure {
  readonly label: string
  /** The unit of an operation: `7 requests/s`. */
  readonly unit: string
  /** Prepares the rounds of one side; returns the function of a round and the function that ends the line. */
  open(side: Side, namespace: string, extent: Extent): Promise<{ round(): Promise<Round>; close(): Promise<void> }>
}

type Operation = 'create' | 'put' | 'merge patch' | 'apply' | 'delete' | 'get'

const concurrency: Readonly<Record<Operation, number>> = { create: 64, put: 16, 'merge patch': 16, apply: 16, delete: 16, get: 64 }

/** The operations on one object: a Pod of 3 KB, whose answer has 7 KB. */
export const objectMeasures: readonly Measure[] = (Object.keys(concurrency) as Operation[]).map((operation) => ({
  label: `${operation === 'delete' ? 'create and delete' : operation} (${concurrency[operation]})`,
  unit: 'requests',
  async open(side, namespace, extent) {
    const pods = `/api/v1/namespaces/${namespace}/pods`
    const connections = await Promise.all(
      Array.from({ length: Math.min(concurrency[operation], extent.connectionsMax ?? Number.POSITIVE_INFINITY) }, () => side.connect()),
    )
    const prefix = `${operation.replace(' ', '-')}-${side.name}`
    const made = await Promise.all(connections.map((_, index) => madePod(side, pods, `${prefix}-${index}`)))
    let last = 0
    const one = async (connection: Connection, index: number) => {
      const name = `${prefix}-${index}`
      const serial = ++last
      if (operation === 'delete') await send(connection, side, { method: 'POST', path: pods, body: pod(`${name}-${serial}`) }, 201)
      await send(connection, side, requestOf(operation, { pods, name, serial, made: made[index] }), operation === 'create' ? 201 : 200)
    }
    return {
      async round() {
        const began = performance.now()
        let operations = 0
        const loop = async (connection: Connection, index: number) => {
          while (performance.now() - began < extent.roundMs) {
            await one(connection, index)
            operations += 1
          }
        }
        await Promise.all(connections.map(loop))
        return { operations, seconds: (performance.now() - began) / 1000 }
      },
      async close() {
        for (const connection of connections) connection.close()
        const own = await side.connect()
        // A server that gives up on such a large delete may not finish the answer. The next line uses other names.
        await own
          .send(side.bytesOf({ method: 'DELETE', path: `${pods}?gracePeriodSeconds=0` }))
          .catch(({ message }: Error) => process.stderr.write(`${side.name}: ${message}\n`))
        own.close()
      },
    }
  },
}))

/** Creates a Pod and returns the answer. The Pods' default account may arrive a moment after the namespace. */
async function madePod(side: Side, pods: string, name: string): Promise<Made> {
  const connection = await side.connect()
  try {
    for (let attempt = 0; ; attempt++) {
      const { status, body } = await connection.send(side.bytesOf({ method: 'POST', path: pods, body: pod(name) }), true)
      if (status === 201) return JSON.parse(String(body)) as Made
      if (status !== 403 || attempt === 200) throw new Error(`${side.name}: a Pod cannot be made: ${status} ${body}`)
      await setTimeout(50)
    }
  } finally {
    connection.close()
  }
}

interface Made {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>>; readonly resourceVersion?: string }
}

interface Target {
  readonly pods: string
  readonly name: string
  readonly serial: number
  readonly made: Made | undefined
}

function requestOf(operation: Operation, { pods, name, serial, made }: Target): Sent {
  const path = `${pods}/${name}`
  const annotations = { 'example.com/note': `change ${serial}` }
  switch (operation) {
    case 'create':
      return { method: 'POST', path: pods, body: pod(`${name}-${serial}`) }
    case 'get':
      return { method: 'GET', path }
    case 'put': {
      const { resourceVersion: _, ...metadata } = made?.metadata ?? {}
      return { method: 'PUT', path, body: { ...made, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } } }
    }
    case 'merge patch':
      return { method: 'PATCH', path, headers: { 'content-type': 'application/merge-patch+json' }, body: { metadata: { annotations } } }
    case 'apply': {
      const headers = { 'content-type': 'application/apply-patch+yaml' }
      return { method: 'PATCH', path: `${path}?fieldManager=bench&force=true`, headers, body: pod(name, `change ${serial}`) }
    }
    case 'delete':
      return { method: 'DELETE', path: `${pods}/${name}-${serial}?gracePeriodSeconds=0` }
  }
}

async function send(connection: Connection, side: Side, sent: Sent, expected: number): Promise<void> {
  const { status, head, body } = await connection.send(side.bytesOf(sent))
  if (status !== expected)
    throw new Error(`${side.name}: ${sent.method} ${sent.path} answered ${status} where ${expected} was expected: ${head} ${body ?? ''}`)
}

const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const metadataType = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

/** The ways to list a collection, one request at a time. The client follows `continue`. */
const lists: readonly (readonly [label: string, query: string, headers: Readonly<Record<string, string>>])[] = [
  ['list', '', {}],
  ['list, resourceVersion=0', '?resourceVersion=0', {}],
  ['list by pages of 500', '?limit=500', {}],
  ['list as Table', '', { accept: tableType }],
  ['list of metadata', '', { accept: metadataType }],
  ['list in gzip', '', { 'accept-encoding': 'gzip' }],
]

/** Reads all Pods of a new namespace. */
export const listMeasures: readonly Measure[] = lists.map(([label, query, headers]) => ({
  label,
  unit: 'lists',
  async open(side, namespace, extent) {
    const path = `/api/v1/namespaces/${namespace}-list/pods`
    await fill(side, `${namespace}-list`, extent.objects)
    const connection = await side.connect()
    const whole = async () => {
      for (let token = ''; ; ) {
        const isPaged = query.includes('limit')
        const further = token === '' ? '' : `&continue=${encodeURIComponent(token)}`
        const answer = await connection.send(side.bytesOf({ method: 'GET', path: `${path}${query}${further}`, headers }), isPaged)
        if (answer.status !== 200) throw new Error(`${side.name}: a list answered ${answer.status}: ${answer.head}`)
        token = /"continue":"([^"]+)"/.exec(String(answer.body?.subarray(0, 2_000) ?? ''))?.[1] ?? ''
        if (token === '') return
      }
    }
    return {
      async round() {
        const began = performance.now()
        let operations = 0
        do {
          await whole()
          operations += 1
        } while (performance.now() - began < extent.roundMs)
        return { operations, seconds: (performance.now() - began) / 1000 }
      },
      close: async () => connection.close(),
    }
  },
}))

/** Creates the Pods that are missing from this number. */
async function fill(side: Side, namespace: string, count: number): Promise<void> {
  const pods = `/api/v1/namespaces/${namespace}/pods`
  const { body } = await side.ask({ method: 'GET', path: `${pods}?limit=1` })
  const { items = [], metadata = {} } = JSON.parse(String(body)) as { items?: object[]; metadata?: { remainingItemCount?: number } }
  let next = items.length + (metadata.remainingItemCount ?? 0)
  if (next >= count) return
  await madePod(side, pods, `p-${next++}`)
  const connections = await Promise.all(Array.from({ length: 32 }, () => side.connect()))
  await Promise.all(
    connections.map(async (connection) => {
      while (next < count) await send(connection, side, { method: 'POST', path: pods, body: pod(`p-${next++}`) }, 201)
      connection.close()
    }),
  )
}
