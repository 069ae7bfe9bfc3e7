import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { memberOf, same } from '../../../kind/selectable-fields.ts'
import { nodeCells } from '../../../table/cells/cluster.ts'
import { fillNode } from '../../defaults/storage.ts'
import { validateNodeSpec, validateNodeStatus } from '../../validation/node.ts'
import { warningsOfNode } from '../../warnings/rules.ts'

/** A machine that runs pods. */
export const node = defineResource('core.Node', {
  shortNames: ['no'],
  scope: 'Cluster',
  rechecksName: true,
  subresources: [
    {
      name: 'proxy',
      type: 'core/v1.NodeProxyOptions',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      optionsType: 'core/v1.NodeProxyOptions',
      connect: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
      reaches: 'node',
      hasSubpath: true,
    },
    statusSubresource,
  ],
  selectable: {
    labels: same('metadata.name', 'spec.unschedulable'),
    fieldsOf: (node) => ({ 'spec.unschedulable': String(memberOf(node['spec'], 'unschedulable') === true) }),
  },
  defaults: fillNode,
  validation: { main: validateNodeSpec, status: validateNodeStatus },
  warnings: warningsOfNode,
  table: {
    cells: nodeCells,
    columns: [
      'Name',
      { name: 'Status', description: 'Ready if the node can run pods.' },
      'Roles',
      'Age',
      'Version',
      { name: 'Internal-IP', priority: 1 },
      { name: 'External-IP', priority: 1, description: 'Address at which the node can be reached from outside.' },
      { name: 'OS-Image', priority: 1 },
      { name: 'Kernel-Version', priority: 1, until: 35 },
      { name: 'Kernel-Version', priority: 1, since: 36 },
      { name: 'Container-Runtime', priority: 1 },
    ],
  },
})
