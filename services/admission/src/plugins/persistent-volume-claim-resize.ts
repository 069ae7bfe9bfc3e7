import { compareQuantities, parseQuantity, zeroQuantity } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import type { BuiltIn } from '@orch/core/schema'
import { allowed, denied, forbid, type Plugin, type PluginNeeds } from '../plugin.ts'
import { classReader } from './default-classes.ts'
import { oldAnnotation } from './default-storage-class.ts'
import { admissionRuleFor, KeptObjects, objectsOf } from './objects.ts'

type Claim = BuiltIn<'core/v1.PersistentVolumeClaim'>

const notResizable = 'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize'

/** PersistentVolumeClaimResize: a claim may grow only if its class allows expansion. */
export function persistentVolumeClaimResize(needs: PluginNeeds): Plugin {
  const { names } = needs.catalogue
  const classes = new KeptObjects(
    { group: domainGroup(names, 'storage'), plural: 'storageclasses' },
    classReader('storage/v1.StorageClass', []),
    needs,
  )
  const classOf = ({ metadata, spec }: Claim) => metadata.annotations?.[oldAnnotation(names)] ?? spec.storageClassName ?? ''
  return {
    admissionRules: [admissionRuleFor('validate', ['UPDATE'], '', ['persistentvolumeclaims'])],
    async validate(attributes) {
      const { oldObject: before, object: after } = objectsOf('core/v1.PersistentVolumeClaim', attributes)
      if (before === undefined || after === undefined) return allowed
      if (compareQuantities(sizeOf(after), sizeOf(before)) <= 0) return allowed
      if (before.status.phase !== 'Bound') return denied(forbid(attributes, 'Only bound persistent volume claims can be expanded'))
      const name = classOf(after)
      if (name === '' || name !== classOf(before)) return denied(forbid(attributes, notResizable))
      const key = classes.keyOf(name)
      const known = classes.get(key)
      const state = known?.allowsExpansion === true ? known : await classes.latest(key)
      return state?.allowsExpansion === true ? allowed : denied(forbid(attributes, notResizable))
    },
    close: () => classes.close(),
  }
}

function sizeOf({ spec }: Claim) {
  return parseQuantity(String(spec.resources.requests?.['storage'] ?? '0')) ?? zeroQuantity
}
