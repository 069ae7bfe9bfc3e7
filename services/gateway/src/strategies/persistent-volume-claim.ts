import { domainGroup, type Names } from '@orch/core/names'
import type { MutableBuiltIn } from '@orch/core/schema'
import type { RulesOf, UpdateContext } from './kind-rules.ts'

type Claim = MutableBuiltIn<'core/v1.PersistentVolumeClaim'>

/**
 * The data source of a claim has an old and a new field; a client that sets one means both. A value of the old field alone that is neither a claim nor a
 * snapshot is dropped, as always.
 */
export const persistentVolumeClaimStrategy: RulesOf<'core/v1.PersistentVolumeClaim'> = {
  deriveNew(claim, { names, isGateOn }) {
    dropForeignSource(claim, isGateOn)
    settleSources(claim, names)
  },
  completeUpdate(claim, live, { names, isGateOn }) {
    if (live.spec.dataSourceRef == null) dropForeignSource(claim, isGateOn)
    const hadSource = live.spec.dataSource != null || live.spec.dataSourceRef != null
    settleSources(claim, hadSource ? undefined : names)
  },
}

/** A source in another namespace is dropped while its feature is off; templates of claims keep theirs. */
function dropForeignSource(claim: Claim, isGateOn: UpdateContext['isGateOn']): void {
  const { dataSourceRef: reference, ...spec } = claim.spec
  const isForeign = reference != null && 'namespace' in reference && reference.namespace !== ''
  if (isForeign && !isGateOn('CrossNamespaceVolumeDataSource')) claim.spec = spec
}

/** Without names the old field stays. */
function settleSources(claim: Claim, names: Names | undefined): void {
  const { dataSource: given, dataSourceRef: reference, ...spec } = claim.spec
  const isKept = given != null && (names === undefined || reference != null || isClaimOrSnapshot(given, names))
  const source = isKept ? given : undefined
  if (source === undefined && reference == null && given == null) return
  claim.spec = { ...spec, ...bothOf(source, reference ?? undefined) }
}

type Sources = Pick<Claim['spec'], 'dataSource' | 'dataSourceRef'>

/** `dataSource` has no namespace, so a reference to another namespace is in `dataSourceRef` alone. */
function bothOf(source: Claim['spec']['dataSource'], reference: Claim['spec']['dataSourceRef']): Sources {
  if (source != null) return { dataSource: source, dataSourceRef: reference ?? source }
  if (reference == null) return {}
  const { namespace = '', ...local } = { namespace: undefined, ...reference }
  return namespace === '' || namespace === null ? { dataSource: local, dataSourceRef: reference } : { dataSourceRef: reference }
}

function isClaimOrSnapshot({ apiGroup, kind }: { readonly apiGroup?: string | null; readonly kind?: string }, names: Names): boolean {
  const group = apiGroup ?? ''
  return group === '' ? kind === 'PersistentVolumeClaim' : group === domainGroup(names, 'snapshot.storage') && kind === 'VolumeSnapshot'
}
