import type { NameKind } from '../meta/validate-names.ts'

/** What differs between kinds beside their fields. */
export interface Behaviour {
  /** Which names its objects may have. */
  readonly nameKind: NameKind
  /**
   * What a successful delete answers with. `object`: the object; `status`: a Status once it is gone, the object while something
   * holds it; `statusUnasked`: a Status where nothing but the kind's default policy holds it, too.
   */
  readonly deleteAnswer: 'object' | 'status' | 'statusUnasked'
  /** What becomes of dependants when the deleter does not say. */
  readonly defaultPropagation: 'Background' | 'Orphan'
  /** Its finalizers need no domain. Those of other kinds do, but for the standard ones. */
  readonly takesBareFinalizers: boolean
  /** Warning to a deleter who sets no policy. */
  readonly defaultPropagationWarning?: string
}

const ordinary: Behaviour = { nameKind: 'subdomain', deleteAnswer: 'status', defaultPropagation: 'Background', takesBareFinalizers: false }
const answersObject: Partial<Behaviour> = { deleteAnswer: 'object' }

const jobsOrphanPods =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning'

const exceptions: Readonly<Record<string, Partial<Behaviour>>> = {
  'core/v1.Namespace': { nameKind: 'label' },
  'core/v1.Service': { nameKind: 'label1035', ...answersObject },
  'core/v1.PersistentVolume': answersObject,
  'core/v1.PersistentVolumeClaim': answersObject,
  'core/v1.Pod': answersObject,
  'core/v1.PodTemplate': answersObject,
  'core/v1.ReplicationController': { defaultPropagation: 'Orphan', deleteAnswer: 'statusUnasked' },
  'core/v1.ResourceQuota': answersObject,
  'core/v1.ServiceAccount': answersObject,
  'batch/v1.Job': { defaultPropagation: 'Orphan', defaultPropagationWarning: jobsOrphanPods },
  'storage/v1.CSIDriver': answersObject,
  'storage/v1.CSINode': answersObject,
  'storage/v1.StorageClass': answersObject,
  'storage/v1.VolumeAttachment': answersObject,
  'rbac/v1.Role': { nameKind: 'pathSegment' },
  'rbac/v1.ClusterRole': { nameKind: 'pathSegment' },
  'rbac/v1.RoleBinding': { nameKind: 'pathSegment' },
  'rbac/v1.ClusterRoleBinding': { nameKind: 'pathSegment' },
  'certificates/v1.CertificateSigningRequest': { nameKind: 'pathSegment' },
  'apiregistration/v1.APIService': { nameKind: 'pathSegment', takesBareFinalizers: true },
  'apiserverinternal/v1alpha1.StorageVersion': { nameKind: 'pathSegment', takesBareFinalizers: true },
  'admissionregistration/v1.MutatingWebhookConfiguration': { takesBareFinalizers: true },
  'admissionregistration/v1.ValidatingWebhookConfiguration': { takesBareFinalizers: true },
  'apiextensions/v1.CustomResourceDefinition': { takesBareFinalizers: true },
}

/** How objects of a type behave. */
export function behaviourOf(type: string): Behaviour {
  return { ...ordinary, ...exceptions[type] }
}
