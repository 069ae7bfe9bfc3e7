import { type TemplateHashes, templateHashLabel } from '../hash/content-hash.ts'
import type { WorkloadEvent } from '../pods.ts'
import { type AnnotationNames, revisionOf } from './revisions.ts'
import type { Deployment, ReplicaSet } from './status.ts'

/** The result of a rollback request. */
export interface Rollback extends WorkloadEvent {
  /** The Deployment without the request, and with the template and annotations of the revision if it was found. */
  readonly replacement: Deployment
}

/** The revision requested by the annotation of extensions/v1beta1; 0 means the previous one. Undefined without a request. */
export function rollbackRevision({ metadata }: Deployment, { rollbackTo }: AnnotationNames): number | undefined {
  const text = metadata.annotations?.[rollbackTo]
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined
}

interface RollbackSources {
  readonly sets: readonly ReplicaSet[]
  readonly revision: number
  readonly names: AnnotationNames
  readonly templates: TemplateHashes
}

/** Restores the template of a revision (WL-DEP-16). */
export function rollBack(deployment: Deployment, { sets, revision, names, templates }: RollbackSources): Rollback {
  const { [names.rollbackTo]: _, ...annotations } = deployment.metadata.annotations ?? {}
  const without: Deployment = { ...deployment, metadata: { ...deployment.metadata, annotations } }
  const warning = (reason: string, message: string): Rollback => ({ replacement: without, type: 'Warning', reason, message })
  const notFound = 'DeploymentRollbackRevisionNotFound'
  const revisions = sets.map(({ metadata }) => revisionOf(metadata.annotations, names)).sort((left, right) => right - left)
  const wanted = revision === 0 ? (revisions[1] ?? 0) : revision
  if (wanted === 0) return warning(notFound, 'Unable to find last revision.')
  const set = sets.find(({ metadata }) => revisionOf(metadata.annotations, names) === wanted)
  if (set?.spec.template == null) return warning(notFound, 'Unable to find the revision to rollback to.')
  const { name } = deployment.metadata
  if (templates.areEqual(deployment.spec.template, set.spec.template)) {
    const message = `The rollback revision contains the same template as current deployment "${name}"`
    return warning('DeploymentRollbackTemplateUnchanged', message)
  }
  const { metadata, ...rest } = set.spec.template
  const { [templateHashLabel]: _hash, ...labels } = metadata?.labels ?? {}
  const kept = new Set(Object.values(names))
  const select = (all: Readonly<Record<string, string>>, isKept: boolean) =>
    Object.fromEntries(Object.entries(all).filter(([annotation]) => kept.has(annotation) === isKept))
  return {
    replacement: {
      ...without,
      metadata: { ...without.metadata, annotations: { ...select(annotations, true), ...select(set.metadata.annotations ?? {}, false) } },
      spec: { ...without.spec, template: { ...rest, metadata: { ...metadata, labels } } },
    },
    type: 'Normal',
    reason: 'DeploymentRollback',
    message: `Rolled back deployment "${name}" to revision ${wanted}`,
  }
}
