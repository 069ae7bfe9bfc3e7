import { objectOf, opaqueOf } from '../types.ts'

/** The types of Kubernetes' libraries. */
export const kubernetesTypes = {
  url: objectOf('kubernetes.URL'),
  quantity: objectOf('kubernetes.Quantity'),
  ip: opaqueOf('net.IP'),
  cidr: opaqueOf('net.CIDR'),
  format: objectOf('kubernetes.NamedFormat'),
  semver: objectOf('kubernetes.Semver'),
  authorizer: objectOf('kubernetes.authorization.Authorizer'),
  pathCheck: objectOf('kubernetes.authorization.PathCheck'),
  groupCheck: objectOf('kubernetes.authorization.GroupCheck'),
  resourceCheck: objectOf('kubernetes.authorization.ResourceCheck'),
  decision: objectOf('kubernetes.authorization.Decision'),
}
