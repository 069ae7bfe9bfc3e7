import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask, eachOf, formOf, type Kind, type KubeList, type KubeObject, keyOfKind, pathOf } from '../api.ts'
import { linkTo } from '../route.ts'
import { kinds } from '../world.ts'

interface OfObject {
  readonly object: KubeObject
  readonly namespace: string
}

/** Finalizers of this server and of Kubernetes, with their removers. Others belong to the owner of their domain. */
const removers: readonly (readonly [pattern: RegExp, remover: string])[] = [
  [/^foregroundDeletion$/, 'the garbage collector, when the dependants are gone'],
  [/^orphan$/, 'the garbage collector, when the dependants have no owner any more'],
  [/\/pvc-protection$/, 'the controller of claims, when no Pod uses the claim'],
  [/\/pv-protection$/, 'the controller of volumes, when no claim is bound to the volume'],
  [/\/job-tracking$/, 'the Job controller, when it has counted the Pod'],
]

function removerOf(finalizer: string): string {
  const known = removers.find(([pattern]) => pattern.test(finalizer))
  const domain = finalizer.includes('/') ? finalizer.slice(0, finalizer.indexOf('/')) : finalizer
  return known?.[1] ?? `the controller that writes ${domain}`
}

/** What keeps an object that is to be deleted. */
export function Finalizers({ object }: Pick<OfObject, 'object'>) {
  const { finalizers = [], deletionTimestamp } = object.metadata
  if (finalizers.length === 0 && deletionTimestamp === undefined) return null
  return (
    <section>
      <h2>Finalizers</h2>
      {deletionTimestamp !== undefined && <p class="warn">Deletion began at {new Date(deletionTimestamp).toLocaleString()}.</p>}
      <ul class="plain">
        {finalizers.map((name) => (
          <li key={name}>
            <code>{name}</code> is removed by {removerOf(name)}
          </li>
        ))}
      </ul>
    </section>
  )
}

const requestsAtOnce = 4
const dependantsMax = 500

interface Dependant {
  readonly kind: Kind
  readonly object: KubeObject
}

/** Owners, and the objects that name this one as theirs. */
export function Owners({ object, kind, namespace }: OfObject & { readonly kind: Kind }) {
  const { uid = '', ownerReferences = [] } = object.metadata
  const dependants = useSignal<readonly Dependant[] | undefined>(undefined)
  useEffect(() => {
    let isOver = false
    void findDependants(uid, namespace, kind).then((found) => {
      if (!isOver) dependants.value = found
    })
    return () => {
      isOver = true
    }
  }, [uid])
  return (
    <section>
      <h2>Owners and dependants</h2>
      <ul class="tree">
        {ownerReferences.map(({ apiVersion, kind: owner, name, uid: id }) => {
          const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
          const known = [...kinds.value.values()].find((one) => one.group === group && one.kind === owner)
          return (
            <li key={id}>
              {owner}{' '}
              {known === undefined ? (
                name
              ) : (
                <a href={linkTo('object', { kind: keyOfKind(known), ns: known.isNamespaced ? namespace : '', name })}>{name}</a>
              )}
            </li>
          )
        })}
        <li>
          <strong>{object.metadata.name}</strong>
          <ul class="tree">
            {(dependants.value ?? []).map(({ kind: one, object: { metadata } }) => (
              <li key={metadata.uid}>
                {one.kind}{' '}
                <a href={linkTo('object', { kind: keyOfKind(one), ns: metadata.namespace, name: metadata.name })}>{metadata.name}</a>
              </li>
            ))}
            {dependants.value === undefined && <li class="dim">looking for dependants …</li>}
            {dependants.value?.length === 0 && <li class="dim">no dependants</li>}
          </ul>
        </li>
      </ul>
    </section>
  )
}

/** Reads metadata alone, and no more than some hundred objects of a kind. */
async function findDependants(uid: string, namespace: string, { isNamespaced }: Kind): Promise<Dependant[]> {
  const found: Dependant[] = []
  const listed = [...kinds.value.values()].filter(
    (kind) => kind.verbs.includes('list') && kind.resource !== 'events' && (!isNamespaced || kind.isNamespaced),
  )
  await eachOf(listed, requestsAtOnce, async (kind) => {
    const list = await ask<KubeList<KubeObject>>(`${pathOf(kind, namespace)}?limit=${dependantsMax}`, {
      headers: { accept: formOf('PartialObjectMetadataList') },
    }).catch(() => ({ items: [] }))
    for (const object of list.items) {
      if (object.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true) found.push({ kind, object })
    }
  })
  return found.sort((one, other) => one.kind.kind.localeCompare(other.kind.kind))
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

const eventsMax = 100

/** Events about an object, newest first. */
export function Events({ object, namespace }: OfObject) {
  const { uid = '', resourceVersion = '' } = object.metadata
  const events = useSignal<readonly EventObject[]>([])
  useEffect(() => {
    let isOver = false
    const place = namespace === '' ? 'default' : namespace
    const query = new URLSearchParams({ fieldSelector: `involvedObject.uid=${uid}`, limit: String(eventsMax) })
    void ask<KubeList<EventObject>>(`/api/v1/namespaces/${place}/events?${query}`)
      .catch(() => ({ items: [] }))
      .then(({ items }) => {
        if (!isOver) events.value = [...items].sort((one, other) => timeOf(other).localeCompare(timeOf(one)))
      })
    return () => {
      isOver = true
    }
  }, [uid, resourceVersion])
  return (
    <section>
      <h2>Events</h2>
      {events.value.length === 0 && <p class="dim">none</p>}
      <ul class="plain">
        {events.value.map((event) => (
          <li key={event.metadata.uid}>
            <span class={event.type === 'Warning' ? 'warn' : 'dim'}>{event.reason}</span> {event.message}{' '}
            <span class="dim">
              {timeOf(event) !== '' && new Date(timeOf(event)).toLocaleTimeString()}
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
