import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask, eachOf, formOf } from '../api.ts'
import { problemOf, readCounts } from '../counts.ts'
import { finalizerManagers, type Graph, type GraphBox, graphOf, type Owned } from '../graph.ts'
import type { KubeList, KubeObject } from '../objects.ts'
import { followWatches, type WatchLists } from '../open-watches.ts'
import { type Kind, keyOfKind, pathOf } from '../paths.ts'
import { linkTo, moment } from '../route.ts'
import { counted, dayAndTime, firstOf, shortUser } from '../text.ts'
import { isOfObject, lagOf, printLag } from '../watch-lag.ts'
import { follow } from '../watches.ts'
import { kinds, listedKinds } from '../world.ts'

interface OfObject {
  readonly object: KubeObject
  readonly namespace: string
}

/** Finalizers of this server and of Kubernetes, with the controllers that remove them. Other finalizers belong to the owner of their domain. */
const removers: readonly (readonly [pattern: RegExp, remover: string])[] = [
  [/^foregroundDeletion$/, 'the garbage collector, when the dependants are gone'],
  [/^orphan$/, 'the garbage collector, when the dependants have no owner any more'],
  [/^(?:kubernetes|orch)$/, 'the namespace controller, when the namespace is empty'],
  [/\/pvc-protection$/, 'the controller of claims, when no Pod uses the claim'],
  [/\/pv-protection$/, 'the controller of volumes, when no claim is bound to the volume'],
  [/\/job-tracking$/, 'the Job controller, when it has counted the Pod'],
]

/** The part of the server that removes a finalizer; undefined for a finalizer of a client. */
function removerOf(finalizer: string): string | undefined {
  return removers.find(([pattern]) => pattern.test(finalizer))?.[1]
}

/** An object that may be a Namespace, which has another finalizer in its spec, and conditions that name the remaining objects. */
export interface Deletable extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[] }
}

/** The finalizers of an object, and the start of its deletion. */
export function Finalizers({ object }: { readonly object: Deletable }) {
  const { finalizers: own = [], deletionTimestamp } = object.metadata
  if (own.length === 0 && deletionTimestamp === undefined) return null
  const isNamespace = object.kind === 'Namespace' && Array.isArray(object.spec?.finalizers)
  const finalizers = [...own, ...(isNamespace ? (object.spec?.finalizers ?? []) : [])]
  const left = isNamespace ? (object.status?.conditions ?? []).filter(({ status }) => status === 'True') : []
  return (
    <section>
      <h2>Finalizers</h2>
      {deletionTimestamp !== undefined && (
        <p class="warn">Deletion began at {dayAndTime(deletionTimestamp)}. The object is gone when all finalizers are removed.</p>
      )}
      <ul class="plain">
        {finalizers.map((name) => {
          const managers = finalizerManagers(object, name)
          return (
            <li key={name}>
              <code>{name}</code> is removed by {removerOf(name) ?? `the controller that writes ${name.replace(/\/.*/, '')}`}
              {managers.length > 0 && <span class="dim">; written by {managers.join(', ')}</span>}
            </li>
          )
        })}
        {left.map(({ type, message }) => (
          <li key={type} class="warn">
            {message}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The clients with open watches that may include an object. */
export function Watchers({ object, kind, namespace }: OfObject & { readonly kind: Kind }) {
  const { name, deletionTimestamp, finalizers = [] } = object.metadata
  const lists = useSignal<WatchLists | undefined>(undefined)
  useEffect(() => (moment.value === '' ? followWatches((found) => (lists.value = found)) : undefined), [])
  if (lists.value === undefined) return null
  const { now, before } = lists.value
  const found = now.items.filter((watch) => isOfObject(watch, kind, namespace, name))
  const awaited = deletionTimestamp === undefined ? undefined : finalizers.find((finalizer) => removerOf(finalizer) === undefined)
  const byUser = Map.groupBy(found, ({ user, agent = '' }) => `${shortUser(user)} ${agent}`)
  return (
    <section>
      <h2>Watched by</h2>
      <ul class="plain">
        {[...byUser].slice(0, watchersShown).map(([client, watches]) => {
          const lags = watches.map((watch) => printLag(lagOf(watch, now.revision, before))).filter((text) => text !== '')
          return (
            <li key={client}>
              {client}{' '}
              <span class="dim">{watches.map(({ path }) => (path.includes('/namespaces/') ? 'its namespace' : 'all')).join(', ')}</span>{' '}
              <span class="bad">{firstOf(lags, 1)}</span>
            </li>
          )
        })}
        {found.length === 0 && <li class="dim">no client</li>}
      </ul>
      {found.length === 0 && awaited !== undefined && (
        <p class="warn">
          The object waits for a client to remove <code>{awaited}</code>, and no client watches it: the controller may not run.
        </p>
      )}
      <p class="dim">Parts of the server itself are not listed; a watch with a selector is, whatever it selects.</p>
    </section>
  )
}

const watchersShown = 20
const requestsAtOnce = 4
const dependantsMax = 500
const unreadShown = 6
const graphOptions = { depthMax: 3, boxesMax: 60 }

/** A graph of an object's owners, and of its direct and indirect dependants. */
export function Owners({ object, kind, namespace }: OfObject & { readonly kind: Kind }) {
  const { uid = '', ownerReferences = [] } = object.metadata
  const others = useSignal<Others | undefined>(undefined)
  useEffect(() => {
    let isOver = false
    void findOthers(namespace, kind).then((found) => {
      if (!isOver) others.value = found
    })
    return () => {
      isOver = true
    }
  }, [uid])
  const owners = ownerReferences.map(({ apiVersion, kind: owner, name, uid: id }): Owned => {
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
    const known = [...kinds.value.values()].find((one) => one.group === group && one.kind === owner)
    const link =
      known === undefined ? undefined : linkTo('object', { kind: keyOfKind(known), ns: known.isNamespaced ? namespace : '', name })
    return { kind: owner, link, metadata: { name, uid: id } }
  })
  const center: Owned = { kind: kind.kind, link: undefined, metadata: object.metadata }
  const { owned = [], unread = [] } = others.value ?? {}
  const graph = graphOf(center, owners, owned, graphOptions)
  return (
    <section>
      <h2>Owners and dependants</h2>
      {graph.boxes.length > 1 && <GraphPicture graph={graph} />}
      {others.value === undefined && <p class="dim">looking for dependants …</p>}
      {others.value !== undefined && graph.boxes.length === 1 + owners.length && <p class="dim">no dependants</p>}
      {graph.left > 0 && <p class="dim">{counted(graph.left, 'dependant')} more.</p>}
      {unread.length > 0 && <p class="dim">There may be more dependants, because these were not read: {firstOf(unread, unreadShown)}.</p>}
    </section>
  )
}

const boxWidth = 148
const boxHeight = 40
const gap = { x: 20, y: 8 }

function GraphPicture({ graph: { boxes, lines, columns, rows } }: { readonly graph: Graph }) {
  const [width, height] = [columns * (boxWidth + gap.x) - gap.x + 2, rows * (boxHeight + gap.y) - gap.y + 2]
  const placeOf = ({ column, row }: GraphBox) => ({ x: column * (boxWidth + gap.x) + 1, y: row * (boxHeight + gap.y) + 1 })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    <section class="graph" tabIndex={0} aria-label="Owners at the left, dependants at the right">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        <title>Owners and dependants</title>
        {lines.map(([from, to]) => {
          const [source, target] = [boxes[from], boxes[to]]
          if (source === undefined || target === undefined) return null
          const [start, end] = [placeOf(source), placeOf(target)]
          const [x1, y1, x2, y2] = [start.x + boxWidth, start.y + boxHeight / 2, end.x, end.y + boxHeight / 2]
          return <path key={`${from} ${to}`} d={`M${x1} ${y1}C${x1 + gap.x / 2} ${y1} ${x2 - gap.x / 2} ${y2} ${x2} ${y2}`} />
        })}
        {boxes.map((box) => {
          const { x, y } = placeOf(box)
          const name = (
            <>
              <rect x={x} y={y} width={boxWidth} height={boxHeight} rx={6} />
              <text class="kind" x={x + 10} y={y + 16}>
                {box.kind}
                {box.isDeleted && ', in deletion'}
              </text>
              <text x={x + 10} y={y + 32}>
                <title>{box.name}</title>
                {cut(box.name, 16)}
              </text>
            </>
          )
          const key = `${box.column} ${box.kind} ${box.name}`
          return box.link === undefined ? (
            <g key={key} class={box.isCenter ? 'center' : ''}>
              {name}
            </g>
          ) : (
            <a key={key} href={box.link}>
              {name}
            </a>
          )
        })}
      </svg>
    </section>
  )
}

/** Shortens a name but keeps its end, which distinguishes generated names. */
function cut(name: string, max: number): string {
  return name.length <= max ? name : `${name.slice(0, max - 9)}…${name.slice(-8)}`
}

/** The objects that may depend on another one. */
interface Others {
  readonly owned: readonly Owned[]
  /** The kinds whose objects are missing, each with the reason. */
  readonly unread: readonly string[]
}

/** Reads only metadata, of at most some hundred objects of each kind that has objects. */
async function findOthers(namespace: string, { isNamespaced }: Kind): Promise<Others> {
  const owned: Owned[] = []
  const unread: string[] = []
  const counts = await readCounts(namespace)
  const mayDepend = listedKinds().filter((kind) => kind.resource !== 'events' && (!isNamespaced || kind.isNamespaced))
  await eachOf(mayDepend, requestsAtOnce, async (kind) => {
    const { count, problem } = counts.get(keyOfKind(kind)) ?? {}
    if (count === 0) return
    if (problem !== undefined) {
      unread.push(`${kind.kind} (${problem})`)
      return
    }
    try {
      const { items, metadata: page } = await ask<KubeList<KubeObject>>(`${pathOf(kind, namespace)}?limit=${dependantsMax}`, {
        headers: { accept: formOf('PartialObjectMetadataList') },
      })
      for (const { metadata } of items) {
        if (metadata.ownerReferences === undefined) continue
        const link = linkTo('object', { kind: keyOfKind(kind), ns: metadata.namespace, name: metadata.name })
        owned.push({ kind: kind.kind, link, metadata })
      }
      if ((page.continue ?? '') !== '') unread.push(`${kind.kind} (only the first ${dependantsMax} were read)`)
    } catch (error) {
      unread.push(`${kind.kind} (${problemOf(error)})`)
    }
  })
  owned.sort((one, other) => one.kind.localeCompare(other.kind) || one.metadata.name.localeCompare(other.metadata.name))
  return { owned, unread: unread.sort() }
}

interface EventObject extends KubeObject {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly series?: { readonly count?: number }
  readonly lastTimestamp?: string
  readonly eventTime?: string
}

/** Maximum events shown. */
const eventsMax = 100
const eventsPageSize = 500

/** Events about an object, newest first. All of them are read once, since a server lists them by name. */
export function Events({ object, namespace }: OfObject) {
  const { uid = '' } = object.metadata
  const newest = useSignal<readonly EventObject[]>([])
  const problem = useSignal('')
  useEffect(() => {
    const place = encodeURIComponent(namespace === '' ? 'default' : namespace)
    const path = `/api/v1/namespaces/${place}/events?${new URLSearchParams({ fieldSelector: `involvedObject.uid=${uid}` })}`
    let known = new Map<string | undefined, EventObject>()
    const show = () => {
      const sorted = [...known.values()].sort((one, other) => timeOf(other).localeCompare(timeOf(one)))
      newest.value = sorted.slice(0, eventsMax)
      known = new Map(newest.value.map((event) => [event.metadata.uid, event]))
    }
    return follow<EventObject>({
      path,
      accept: 'application/json',
      async read(isOver) {
        let [next, revision] = ['', '']
        known.clear()
        do {
          const page = new URLSearchParams({ limit: String(eventsPageSize), continue: next })
          const { items, metadata } = await ask<KubeList<EventObject>>(`${path}&${page}`)
          if (isOver()) break
          for (const event of items) known.set(event.metadata.uid, event)
          show()
          ;({ continue: next = '', resourceVersion: revision = '' } = metadata)
        } while (next !== '')
        return revision
      },
      onEvents(events) {
        for (const { type, object: event } of events) {
          if (type === 'DELETED') known.delete(event.metadata.uid)
          else known.set(event.metadata.uid, event)
        }
        show()
      },
      onProblem: (message) => (problem.value = message),
    })
  }, [uid])
  const shown = newest.value
  return (
    <section>
      <h2>Events</h2>
      {problem.value !== '' && <p class="dim">{problem.value}</p>}
      {problem.value === '' && shown.length === 0 && <p class="dim">none</p>}
      <ul class="plain">
        {shown.map((event) => (
          <li key={event.metadata.uid}>
            <span class={event.type === 'Warning' ? 'warn' : 'dim'}>{event.reason}</span> {event.message}{' '}
            <span class="dim">
              {timeOf(event) !== '' && dayAndTime(timeOf(event))}
              {countOf(event) > 1 && `, ${countOf(event)} times`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function countOf({ count, series }: EventObject): number {
  return series?.count ?? count ?? 1
}

function timeOf({ lastTimestamp, eventTime, metadata }: EventObject): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? ''
}
