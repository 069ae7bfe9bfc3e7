import { memo } from '../../memo.ts'
import { type Names, subdomainLabel } from '../../names.ts'

type Annotations = Readonly<Record<string, string>>

/** The annotations of Deployments and ReplicaSets. */
export interface AnnotationNames {
  readonly revision: string
  readonly history: string
  readonly desired: string
  readonly max: string
  readonly lastApplied: string
  readonly rollbackTo: string
}

/** The annotation names, cached because concatenated keys are slow. */
export const annotationNames = memo((names: Names): AnnotationNames => {
  const of = (name: string) => subdomainLabel(names, 'deployment', name)
  return {
    revision: of('revision'),
    history: of('revision-history'),
    desired: of('desired-replicas'),
    max: of('max-replicas'),
    lastApplied: subdomainLabel(names, 'kubectl', 'last-applied-configuration'),
    rollbackTo: 'deprecated.deployment.rollback.to',
  }
})

/** Maximum length of the list of former revisions. */
const historyLengthMax = 2000

/** The revision in annotations; 0 if absent or invalid. */
export function revisionOf(annotations: Annotations | undefined, { revision }: AnnotationNames): bigint {
  return readRevision(annotations?.[revision]) ?? 0n
}

/** Parses an int64. */
export function readRevision(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?\d{1,100}$/.test(text)) return undefined
  const revision = BigInt(text.replace('+', ''))
  return revision === BigInt.asIntN(64, revision) ? revision : undefined
}

/** Parses a scaling annotation: a non-negative int32. */
export function readCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) && Number(text) < 2 ** 31 ? Number(text) : undefined
}

/**
 * The annotations of the new ReplicaSet: those of the Deployment, except those managed by controllers and kubectl, and the next revision. Its
 * previous revision is added to the list of former ones, whose oldest are dropped beyond 2,000 characters (WL-DEP-05 to WL-DEP-08).
 */
export function newSetAnnotations(own: Annotations, ofDeployment: Annotations, next: bigint, names: AnnotationNames): Annotations {
  const kept = new Set(Object.values(names))
  const copied = Object.fromEntries(Object.entries(ofDeployment).filter(([name]) => !kept.has(name)))
  const annotations = { ...own, ...copied }
  const text = own[names.revision]
  const before = text === undefined || text === '' ? 0n : readRevision(text)
  if (before === undefined || before >= next) return annotations
  const former = text === undefined ? {} : historyWith(own[names.history] ?? '', text, names)
  return { ...annotations, ...former, [names.revision]: String(next) }
}

function historyWith(history: string, revision: string, names: AnnotationNames): Annotations {
  if (history === '') return { [names.history]: revision }
  const entries = history.split(',')
  let length = history.length + revision.length + 1
  while (length > historyLengthMax && entries.length > 0) length -= (entries.shift() ?? '').length + 1
  return length > historyLengthMax ? {} : { [names.history]: [...entries, revision].join(',') }
}

export function scalingNotes(replicas: number, maxTotal: number, names: AnnotationNames): Annotations {
  return { [names.desired]: String(replicas), [names.max]: String(maxTotal) }
}
