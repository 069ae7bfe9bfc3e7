import { atomic, checked, field, merged, needed, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { known, only, string } from '../description/texts.ts'
import { boolean, bytes, int32, list, ref } from '../description/values.ts'
import { lastChange, metadata, objectList } from './common.ts'

/** The types of apiregistration/v1. */
export const apiregistrationV1 = defineTypes({
  APIService: object('A group version of the API, and the service that serves it.', () => ({
    metadata,
    spec: field(ref('apiregistration/v1.APIServiceSpec'), 2, 'The group version and the service.'),
    status: field(ref('apiregistration/v1.APIServiceStatus'), 3, 'Availability of the service.'),
  })),
  APIServiceCondition: struct("One aspect of a service's state.", () => ({
    type: required(ref('apiregistration/v1.APIServiceConditionType'), 1, {
      doc: 'Aspect that the condition describes. The only value is Available.',
    }),
    status: checked(only(known('False', 'True', 'Unknown')), 2, { required: true, doc: 'True, False or Unknown.' }),
    ...lastChange(3),
  })),
  APIServiceConditionType: () => known('Available'),
  APIServiceList: objectList('apiregistration/v1.APIService'),
  APIServiceSpec: struct('A group version and the service that serves it.', () => ({
    service: pointer(ref('apiregistration/v1.ServiceReference'), 1, {
      doc: 'Service that serves the group version. Unset means this server itself.',
    }),
    group: field(string(), 2, 'The group.'),
    version: field(string(), 3, 'The version.'),
    insecureSkipTLSVerify: field(boolean(), 4, 'Do not check the certificate of the service. Not recommended. Default: false.'),
    caBundle: atomic(bytes(), 5, {
      doc: "Certificates, in PEM, that the service must be signed by. Unset means the roots that the server's system trusts.",
    }),
    groupPriorityMinimum: required(int32({ min: 1, max: 20_000, detail: 'must be positive and less than 20000' }), 7, {
      doc: 'Minimum priority of the group among all groups. The highest value of its versions applies. From 1 to 20000.',
    }),
    versionPriority: required(int32({ min: 1, max: 1000, detail: 'must be positive and less than 1000' }), 8, {
      doc: 'Priority of the version within its group, highest first; equal ones are sorted by name. From 1 to 1000.',
    }),
  })),
  APIServiceStatus: struct('Availability of a service.', () => ({
    conditions: merged('type', list(ref('apiregistration/v1.APIServiceCondition')), 1, 'State of the service by aspect.'),
  })),
  ConditionStatus: () => known('True', 'False', 'Unknown'),
  ServiceReference: struct('Points to a service of the cluster.', () => ({
    namespace: needed(string(), 1, 'Namespace of the service.'),
    name: needed(string(), 2, 'Name of the service.'),
    port: pointer(int32(), 3, 'Port of the service, from 1 to 65535. Default: 443.'),
  })),
})
