import { defineResource } from '../../../kind/define-resource.ts'
import { common, memberOf, same, textOf, textsAt } from '../../../kind/selectable-fields.ts'
import { eventCells } from '../../../table/cells/cluster.ts'
import { wide } from '../../../table/kind-table.ts'
import { coreEventToNewer, newerEventToCore } from '../../conversion/event.ts'
import { validateBetaEvent, validateCoreEvent, validateEvent } from '../../validation/event.ts'

const involved = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']
const involvedTexts = textsAt('involvedObject', involved)

/** Labels of the events group for fields that are stored under their core names. */
const newerLabels: Readonly<Record<string, string>> = {
  ...common,
  ...same('reason', 'type'),
  ...Object.fromEntries(involved.map((name) => [`regarding.${name}`, `involvedObject.${name}`])),
  reportingController: 'reportingComponent',
}

/** A note that something happened to an object. Events are kept for a short time and are for information only. */
export const event = defineResource('core.Event', {
  versions: {
    v1: { validation: { main: validateCoreEvent } },
    'events/v1': {
      validation: { main: validateEvent },
      fieldLabels: newerLabels,
      reshape: { toStored: newerEventToCore, fromStored: coreEventToNewer },
    },
    'events/v1beta1': {
      deprecated: { since: '1.22', removed: '1.25' },
      validation: { main: validateBetaEvent },
      fieldLabels: newerLabels,
      reshape: { toStored: newerEventToCore, fromStored: coreEventToNewer },
    },
  },
  storedAs: 'v1',
  groupInMessages: '',
  shortNames: ['ev'],
  scope: 'Namespaced',
  createsOnUpdate: true,
  defaultPropagation: 'Unsupported',
  selectable: {
    labels: {
      ...common,
      ...same(...involved.map((name) => `involvedObject.${name}`)),
      ...same('reason', 'reportingComponent', 'source', 'type'),
    },
    fieldsOf: (event) =>
      involvedTexts(event, {
        reason: textOf(event['reason']),
        type: textOf(event['type']),
        reportingComponent: textOf(event['reportingComponent']),
        source: textOf(memberOf(event['source'], 'component')) || textOf(event['reportingComponent']),
      }),
  },
  table: {
    cells: eventCells,
    columns: [
      'Last Seen',
      { name: 'Type', description: 'Normal or Warning.' },
      { name: 'Reason', description: 'Reason of the event in one word.' },
      'Object',
      ...wide('Subobject', 'Source'),
      'Message',
      ...wide('First Seen', 'Count', 'Name'),
    ],
  },
})
