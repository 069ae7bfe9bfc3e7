import { defineTypes, field, int32, list, microTime, object, ref, string, struct, time } from '../schema/define.ts'

/** The types of events/v1: one definition each, read by everything that knows a type. */
export const eventsV1 = defineTypes({
  Event: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        keepEmpty: true,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      eventTime: field(microTime(), { tag: 2, required: true }),
      series: field(ref('events/v1.EventSeries'), { tag: 3, pointer: true }),
      reportingController: field(string(), { tag: 4 }),
      reportingInstance: field(string(), { tag: 5 }),
      action: field(string(), { tag: 6 }),
      reason: field(string(), { tag: 7 }),
      regarding: field(ref('core/v1.ObjectReference'), { tag: 8 }),
      related: field(ref('core/v1.ObjectReference'), { tag: 9, pointer: true }),
      note: field(string(), { tag: 10 }),
      type: field(string(), { tag: 11 }),
      deprecatedSource: field(ref('core/v1.EventSource'), { tag: 12 }),
      deprecatedFirstTimestamp: field(time(), { tag: 13 }),
      deprecatedLastTimestamp: field(time(), { tag: 14 }),
      deprecatedCount: field(int32(), { tag: 15 }),
    }),
  EventList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('events/v1.Event')), { tag: 2, required: true, doc: 'The Event objects of the list.' }),
      },
      { doc: 'A list of Event objects.' },
    ),
  EventSeries: () =>
    struct({
      count: field(int32(), { tag: 1, required: true }),
      lastObservedTime: field(microTime(), { tag: 2, required: true }),
    }),
})
