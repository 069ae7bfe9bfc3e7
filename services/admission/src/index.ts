/** What is allowed to be: the admission plugins. */
export { type Admission, type AdmissionOptions, admissionOf, createAdmission } from './admission.ts'
export { allowed, type Conditions, type Plugin, type Verdict } from './plugin.ts'
