import { inVersion } from '../description/in-version.ts'
import { admissionV1 } from './admission-v1.ts'

const { AdmissionRequest, AdmissionResponse, AdmissionReview, Operation, PatchType } = admissionV1

/** The types of admission/v1beta1: those of v1. */
export const admissionV1beta1 = inVersion(
  { AdmissionRequest, AdmissionResponse, AdmissionReview, Operation, PatchType },
  { from: 'admission/v1', to: 'admission/v1beta1' },
)
