import { type Entry, type MetricsRequest, type NodesService, objectKey, type StorageService } from '@orch/core/contracts'
import { type ApiObject, notFound } from '@orch/core/meta'
import { matchesFields, matchesLabels } from '@orch/core/selectors'
import { onePart, toEntry } from '../representations/computed-entry.ts'
import { listRepresentationOf } from '../representations/list-representation.ts'
import { type RespondStoredParts, respondStored } from '../representations/respond-stored.ts'
import { type SendParts, sendPieces } from '../representations/send-pieces.ts'
import { callContext, type GatewayRequest, originOf } from '../request/request.ts'
import { rangeOf, type SelectionParts } from '../target/selection.ts'
import type { Verb } from './verb.ts'

/** The dependencies of metrics.k8s.io. */
export type MetricsParts = RespondStoredParts &
  SendParts &
  SelectionParts & {
    readonly storage: Pick<StorageService, 'get'>
    /** Undefined without measurements. */
    readonly nodes: NodesService | undefined
  }

/** The current use of nodes or Pods. */
export const listMetrics: Verb<MetricsParts> = async (request, { served, info }, parts) => {
  const { selection, scope } = rangeOf(served, info, request.query, parts)
  const { plural } = served.resource
  const all = await measured(request, { resource: plural, namespace: scope.namespace ?? '', name: '' }, parts)
  const isWhole = selection.labels.length === 0 && selection.fields.length === 0
  const chosen = all.filter(({ value }) => {
    if (isWhole) return true
    const { metadata }: ApiObject = JSON.parse(Buffer.from(value).toString())
    const fields = { 'metadata.name': metadata.name ?? '', 'metadata.namespace': metadata.namespace ?? '' }
    return matchesLabels(selection.labels, metadata.labels) && matchesFields(selection.fields, fields)
  })
  const representation = listRepresentationOf(request, served, parts)
  await sendPieces(
    request,
    parts,
    representation.format,
    representation.pieces({ metadata: { resourceVersion: '' }, objects: onePart(chosen) }),
  )
}

/** The use of one node or Pod. An absent Pod, and an unmeasured one, have separate messages. */
export const getMetrics: Verb<MetricsParts> = async (request, { served, info }, parts) => {
  const { namespace, name } = info
  const { group, plural, singular } = served.resource
  const [content] = await measured(request, { resource: plural, namespace, name }, parts)
  if (content !== undefined) return respondStored(request, { code: 200, served, content }, parts)
  if (plural === 'pods') {
    const { entry } = await parts.storage.get(
      { key: objectKey('core/pods', namespace, name), read: { kind: 'latest' } },
      callContext(request, parts),
    )
    if (entry === undefined) throw notFound({ group: '', resource: 'pods' }, name)
  }
  throw notFound({ group, resource: singular }, namespace === '' ? name : `${namespace}/${name}`)
}

async function measured(request: GatewayRequest, asked: MetricsRequest, { nodes }: MetricsParts): Promise<Entry[]> {
  const entries: Entry[] = []
  if (nodes === undefined) return entries
  for await (const { objects } of nodes.metrics(asked, originOf(request))) for (const value of objects) entries.push(toEntry(value, ''))
  return entries
}
