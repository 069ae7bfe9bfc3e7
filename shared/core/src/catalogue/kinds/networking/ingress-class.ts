import { defineResource } from '../../../kind/define-resource.ts'
import { ingressClassCells } from '../../../table/cells/network.ts'
import { fillIngressClass } from '../../defaults/network.ts'

/** A named controller that ingresses can choose. An annotation makes one class the default. */
export const ingressClass = defineResource('networking.IngressClass', {
  scope: 'Cluster',
  rechecksName: true,
  countsGenerations: true,
  defaults: fillIngressClass,
  table: {
    cells: ingressClassCells,
    columns: [
      { name: 'Name', until: 34 },
      // The default class is marked.
      { name: 'Name', since: 35 },
      { name: 'Controller', description: 'Name of the controller that implements ingresses of the class.' },
      'Parameters',
      'Age',
    ],
  },
})
