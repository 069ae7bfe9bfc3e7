import {
  boolean,
  bytes,
  checked,
  defineTypes,
  field,
  int32,
  known,
  list,
  needed,
  object,
  only,
  ref,
  string,
  struct,
  time,
} from '../description/define.ts'
import { metadata, objectList } from './common.ts'

/** The types of apiregistration/v1. */
export const apiregistrationV1 = defineTypes({
  APIService: () =>
    object(
      {
        metadata,
        spec: field(ref('apiregistration/v1.APIServiceSpec'), { tag: 2, doc: 'The group version and the service.' }),
        status: field(ref('apiregistration/v1.APIServiceStatus'), {
          tag: 3,
          doc: 'Availability of the service.',
        }),
      },
      { doc: 'A group version of the API, and the service that serves it.' },
    ),
  APIServiceCondition: () =>
    struct(
      {
        type: field(ref('apiregistration/v1.APIServiceConditionType'), {
          tag: 1,
          required: true,
          doc: 'Aspect that the condition describes. The only value is Available.',
        }),
        status: checked(only(known('False', 'True', 'Unknown')), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
        lastTransitionTime: field(time(), { tag: 3, doc: 'Time of the last change of the status from one value to another.' }),
        reason: field(string(), { tag: 4, doc: 'Reason of the status in one CamelCase word, for programs.' }),
        message: field(string(), { tag: 5, doc: 'Details of the last change, for people.' }),
      },
      { doc: "One aspect of a service's state." },
    ),
  APIServiceConditionType: () => known('Available'),
  APIServiceList: () => objectList('apiregistration/v1.APIService'),
  APIServiceSpec: () =>
    struct(
      {
        service: field(ref('apiregistration/v1.ServiceReference'), {
          tag: 1,
          pointer: true,
          doc: 'Service that serves the group version. Unset means this server itself.',
        }),
        group: field(string(), { tag: 2, doc: 'The group.' }),
        version: field(string(), { tag: 3, doc: 'The version.' }),
        insecureSkipTLSVerify: field(boolean(), {
          tag: 4,
          doc: 'Do not check the certificate of the service. Not recommended. Default: false.',
        }),
        caBundle: field(bytes(), {
          tag: 5,
          listType: 'atomic',
          doc: "Certificates, in PEM, that the service must be signed by. Unset means the roots that the server's system trusts.",
        }),
        groupPriorityMinimum: field(int32({ min: 1, max: 20_000, detail: 'must be positive and less than 20000' }), {
          tag: 7,
          required: true,
          doc: 'Minimum priority of the group among all groups. The highest value of its versions applies. From 1 to 20000.',
        }),
        versionPriority: field(int32({ min: 1, max: 1000, detail: 'must be positive and less than 1000' }), {
          tag: 8,
          required: true,
          doc: 'Priority of the version within its group, highest first; equal ones are sorted by name. From 1 to 1000.',
        }),
      },
      { doc: 'A group version and the service that serves it.' },
    ),
  APIServiceStatus: () =>
    struct(
      {
        conditions: field(list(ref('apiregistration/v1.APIServiceCondition')), {
          tag: 1,
          patchStrategy: 'merge',
          patchMergeKey: 'type',
          listType: 'map',
          listMapKeys: ['type'],
          doc: 'State of the service by aspect.',
        }),
      },
      { doc: 'Availability of a service.' },
    ),
  ConditionStatus: () => known('True', 'False', 'Unknown'),
  ServiceReference: () =>
    struct(
      {
        namespace: needed(string(), { tag: 1, doc: 'Namespace of the service.' }),
        name: needed(string(), { tag: 2, doc: 'Name of the service.' }),
        port: field(int32(), { tag: 3, pointer: true, doc: 'Port of the service, from 1 to 65535. Default: 443.' }),
      },
      { doc: 'Points to a service of the cluster.' },
    ),
})
