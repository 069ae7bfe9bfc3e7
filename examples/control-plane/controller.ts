import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningServer } from 'orch'

type Client = RunningServer['client']

interface Metadata {
  readonly name: string
  readonly namespace: string
  readonly uid?: string
  readonly deletionTimestamp?: string
}

// Types, not interfaces: the client's objects may have any further field.
type Database = {
  readonly apiVersion: 'example.dev/v1'
  readonly kind: 'Database'
  readonly metadata: Metadata
  readonly spec: { readonly engine: string; readonly storageGb: number; readonly backups: number }
  readonly status?: { readonly backups?: number }
}

type Backup = {
  readonly apiVersion: 'example.dev/v1'
  readonly kind: 'Backup'
  readonly metadata: Metadata & { ownerReferences: Owner[] }
  readonly spec: { readonly database: string }
}

interface Owner {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
}

const address = { group: 'example.dev', version: 'v1', namespaced: true }
const retryMs = 1000

/** Reconciles Backups with their Databases until the signal is aborted. */
export async function runController(client: Client, signal: AbortSignal): Promise<void> {
  const databases = client.resource<Database>({ ...address, plural: 'databases' })
  const backups = client.resource<Backup>({ ...address, plural: 'backups' })

  const reconcile = async (database: Database) => {
    const { name, namespace, uid = '' } = database.metadata
    if (database.metadata.deletionTimestamp !== undefined) return
    const { items } = await backups.list({ namespace, signal })
    const held = new Set(items.filter(({ spec }) => spec.database === name).map(({ metadata }) => metadata.name))
    const wanted = Array.from({ length: database.spec.backups }, (_, index) => `${name}-${index + 1}`)
    const ownerReferences = [{ apiVersion: database.apiVersion, kind: database.kind, name, uid, controller: true }]
    for (const missing of wanted.filter((one) => !held.has(one))) {
      const metadata = { name: missing, namespace, ownerReferences }
      await backups.create({ apiVersion: 'example.dev/v1', kind: 'Backup', metadata, spec: { database: name } }, { signal })
    }
    for (const superfluous of [...held].filter((one) => !wanted.includes(one))) await backups.delete(superfluous, { namespace, signal })
    if (database.status?.backups === wanted.length) return
    const status = { status: { backups: wanted.length } }
    await databases.patch(name, status, { type: 'merge', namespace, subresource: 'status', signal })
  }

  /** Events of both kinds are processed one after the other. */
  let turn = Promise.resolve()
  const follow = async (what: () => Promise<void>) => {
    while (!signal.aborted) {
      try {
        await what()
      } catch (error) {
        if (signal.aborted) return
        console.warn(`watching again: ${error}`)
        await sleep(retryMs, undefined, { signal }).catch(() => {})
      }
    }
  }
  const inTurn = (work: () => Promise<void>) => {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }
  const watching = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true, signal } as const
  await Promise.all([
    follow(async () => {
      for await (const { type, object } of await databases.watch(watching)) {
        if (type === 'ADDED' || type === 'MODIFIED') await inTurn(() => reconcile(object))
      }
    }),
    follow(async () => {
      for await (const { type, object } of await backups.watch(watching)) {
        if (type !== 'DELETED') continue
        const { items } = await databases.list({ namespace: object.metadata.namespace, signal })
        const owner = items.find(({ metadata }) => metadata.name === object.spec.database)
        if (owner !== undefined) await inTurn(() => reconcile(owner))
      }
    }),
  ])
}
