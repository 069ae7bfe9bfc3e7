import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { selectedBy } from '../../../kind/selectable-fields.ts'
import { namespaceCells } from '../../../table/cells/cluster.ts'
import { fillNamespace } from '../../defaults/policy.ts'
import { validateNamespace, validateNamespaceStatus } from '../../validation/namespace.ts'

/** A scope for names. Objects of most kinds are in a namespace and are deleted together with it. */
export const namespace = defineResource('core.Namespace', {
  shortNames: ['ns'],
  scope: 'Cluster',
  rechecksName: true,
  isPlace: true,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  subresources: [{ name: 'finalize', verbs: ['update'] }, statusSubresource],
  nameKind: 'label',
  selectable: selectedBy('status', 'phase'),
  defaults: fillNamespace,
  validation: { main: validateNamespace, status: validateNamespaceStatus },
  table: { cells: namespaceCells, columns: ['Name', 'Status', 'Age'] },
})
