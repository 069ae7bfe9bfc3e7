import { type Action, type ApiObject, own, ownedBy, reconciler } from 'orch/controllers'
import type { V1Widget } from './widgets.ts'

const widgets = own<V1Widget>('example.com/v1', 'widgets')
const parts = ownedBy<ApiObject>('v1', 'configmaps')

/** Keeps as many ConfigMaps as a widget asks for. */
export const widgetController = reconciler<V1Widget>('widget', () => ({
  watches: [widgets, parts],
  async reconcile({ object: widget, world }) {
    const present = [...world.read(parts).controlledBy(widget.metadata.uid)]
    await world.perform(decide(widget, present))
    return world.writeStatus(widget, { parts: present.length })
  },
}))

/** The writes that bring a widget to its number of parts. A pure function, which a test calls without a server. */
export function decide(widget: V1Widget, present: readonly ApiObject[]): Action[] {
  const wanted = Array.from({ length: widget.spec.parts }, (_, number) => `${widget.metadata.name}-${number}`)
  const names = present.map(({ metadata }) => metadata.name ?? '')
  const missing = wanted.filter((name) => !names.includes(name))
  const surplus = present.filter(({ metadata }) => !wanted.includes(metadata.name ?? ''))
  return [
    ...missing.map((name): Action => ({ kind: 'create', in: parts, object: partOf(widget, name) })),
    ...surplus.map((object): Action => ({ kind: 'delete', in: parts, object })),
  ]
}

function partOf({ apiVersion, kind, metadata: { name = '', namespace = '', uid = '' } }: V1Widget, part: string): ApiObject {
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: part, namespace, ownerReferences: [owner] } }
}
