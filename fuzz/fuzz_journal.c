/* Journals of frames (frames.bin): any file is read up to its first record that is not whole, and
 * skipping records meets the same ones as reading them.
 *
 * The first byte chooses: even, the rest is the file; odd, the rest is payloads, each after its
 * length in two bytes, and the head with the checksum is put before each. */
#include "fuzz.h"

#include "run/results_frame.h"

#include <fcntl.h>
#include <zlib.h>

/* As in results_frame.c. */
typedef struct RecordHead {
  char magic[8];
  uint64_t size, checksum;
} RecordHead;

static void write_records(const uint8_t *data, size_t size) {
  FILE *file = fopen(fuzz_path("frames.bin"), "wb");
  demand(file != NULL, "a scratch file can be written");
  while (size >= 2) {
    size_t length = (size_t)data[0] + 256 * (size_t)data[1];
    data += 2;
    size -= 2;
    if (length > size) length = size;
    const RecordHead head = {
        .magic = "screefr2", .size = length, .checksum = crc32_z(0, data, length)};
    fwrite(&head, 1, sizeof head, file);
    fwrite(data, 1, length, file);
    data += length;
    size -= length;
  }
  fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  fuzz_errors = 0;
  if (data[0] % 2 == 0)
    fuzz_write("frames.bin", data + 1, size - 1);
  else
    write_records(data + 1, size - 1);
  scree_Journal journal = {.path = fuzz_path("frames.bin")};
  journal.file = open(journal.path, O_RDONLY);
  demand(journal.file >= 0, "the journal can be opened");
  scree_Frame frame = {0};
  int64_t offset = 0, skipped = 0;
  for (int k = 0; k < 100; ++k) {
    bool end = false, skip_end = false;
    scree_FrameHead head;
    demand(scree_journal_skip(&journal, &skipped, &head, &skip_end, &fuzz_log) == SCREE_OK,
           "records can be skipped");
    const scree_Status status = scree_journal_read(&journal, &offset, &frame, &end, &fuzz_log);
    fuzz_check_status(status);
    if (status != SCREE_OK || end) break;
    demand(!skip_end && skipped == offset, "skipping and reading meet the same records");
  }
  scree_frame_fini(&frame);
  close(journal.file);
  return 0;
}
