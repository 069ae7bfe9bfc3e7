import { isJsonObject } from '@orch/core/json'
import { domainGroup, domainLabel } from '@orch/core/names'
import { allowed, type Plugin, type PluginNeeds } from '../plugin.ts'
import { admissionRuleFor, metadataOf } from './objects.ts'

/** StorageObjectInUseProtection: claims, volumes and attribute classes are not deleted while they are in use. */
export function storageObjectInUseProtection({ catalogue: { names, isGateOn } }: PluginNeeds): Plugin {
  const hasClasses = isGateOn('VolumeAttributesClass')
  const finalizers: Readonly<Record<string, string>> = {
    persistentvolumeclaims: domainLabel(names, 'pvc-protection'),
    persistentvolumes: domainLabel(names, 'pv-protection'),
    volumeattributesclasses: domainLabel(names, 'vac-protection'),
  }
  return {
    admissionRules: [
      admissionRuleFor('mutate', ['CREATE'], '', ['persistentvolumeclaims', 'persistentvolumes']),
      ...(hasClasses ? [admissionRuleFor('mutate', ['CREATE'], domainGroup(names, 'storage'), ['volumeattributesclasses'])] : []),
    ],
    mutate({ resource, object }) {
      if (!isJsonObject(object)) return allowed
      const metadata = metadataOf(object)
      const finalizer = finalizers[resource]
      const given = metadata.finalizers ?? []
      if (finalizer === undefined || given.includes(finalizer)) return allowed
      return { kind: 'allowed', object: { ...object, metadata: { ...metadata, finalizers: [...given, finalizer] } } }
    },
  }
}
