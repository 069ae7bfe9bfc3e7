import { domainGroup, type Names, subdomainLabel } from '@orch/core/names'
import { allowed, denied, forbid, type Plugin, type PluginNeeds } from '../plugin.ts'
import { classReader, newestDefault } from './default-classes.ts'
import { admissionRuleFor, KeptObjects, newObject } from './objects.ts'

/** The first release that uses the newest of several default classes. */
const newestSince = 26

/** DefaultStorageClass: a claim without a class gets the newest default class; before 1.26 several defaults are an error. */
export function defaultStorageClass(needs: PluginNeeds): Plugin {
  const { names, level } = needs.catalogue
  const marks = [subdomainLabel(names, 'storageclass', 'is-default-class'), subdomainLabel(names, 'storageclass.beta', 'is-default-class')]
  const classes = new KeptObjects(
    { group: domainGroup(names, 'storage'), plural: 'storageclasses' },
    classReader('storage/v1.StorageClass', marks),
    needs,
  )
  return {
    admissionRules: [admissionRuleFor('mutate', ['CREATE'], '', ['persistentvolumeclaims'])],
    followed: classes,
    async mutate(attributes) {
      const claim = newObject('core/v1.PersistentVolumeClaim', attributes)
      if (claim.spec?.storageClassName != null || claim.metadata.annotations?.[oldAnnotation(names)] !== undefined) return allowed
      const known = [...classes.values()].filter(({ isDefault }) => isDefault)
      const marked = known.length === 1 ? known : (await classes.latestAll()).filter(({ isDefault }) => isDefault)
      const chosen = newestDefault(marked)
      if (chosen === undefined) return allowed
      if (marked.length > 1 && level < newestSince)
        return denied(forbid(attributes, `Internal error occurred: ${marked.length} default StorageClasses were found`))
      return { kind: 'allowed', object: { ...claim, spec: { ...claim.spec, storageClassName: chosen.name } } }
    },
    close: () => classes.close(),
  }
}

/** The annotation for a claim's class before the field existed. */
export function oldAnnotation(names: Names): string {
  return subdomainLabel(names, 'volume.beta', 'storage-class')
}
