"""Published figures, as printed. Each version of a dataset has its own: features and documents differ."""

from __future__ import annotations

from typing import NamedTuple

_LIU = "Liu 2011, Learning to rank for information retrieval"
_ZHENG = "Zheng, Zha, Sun 2008, Query-level learning to rank using isotonic regression"


class PublishedTable(NamedTuple):
    """One table: figures by method and measure, means over five folds."""

    dataset: str
    version: str
    source: str
    figures: dict[str, dict[str, float]]


def _table(dataset: str, version: str, source: str, measures: str, rows: str) -> PublishedTable:
    names = measures.split()
    figures = {}
    for row in rows.strip().splitlines():
        method, _, values = row.partition(":")
        figures[method] = dict(zip(names, map(float, values.split()), strict=True))
    return PublishedTable(dataset, version, source, figures)


#: LETOR 3.0 and 4.0 as in the book's chapter 11, LETOR 2.0 as in the IsoRank paper.
TABLES = (
    _table(
        "td2003",
        "LETOR 3.0",
        f"{_LIU}, table 11.1",
        "nDCG@1 nDCG@3 nDCG@10 P@1 P@3 P@10 AP",
        """
Regression (linear): .320 .307 .326 .320 .260 .178 .241
Ranking SVM:         .320 .344 .346 .320 .293 .188 .263
RankBoost:           .280 .325 .312 .280 .280 .170 .227
FRank:               .300 .267 .269 .300 .233 .152 .203
ListNet:             .400 .337 .348 .400 .293 .200 .275
AdaRank:             .260 .307 .306 .260 .260 .158 .228
SVM-map:             .320 .320 .328 .320 .253 .170 .245
        """,
    ),
    _table(
        "td2004",
        "LETOR 3.0",
        f"{_LIU}, table 11.2",
        "nDCG@1 nDCG@3 nDCG@10 P@1 P@3 P@10 AP",
        """
Regression (linear): .360 .335 .303 .360 .333 .249 .208
Ranking SVM:         .413 .347 .307 .413 .347 .252 .224
RankBoost:           .507 .430 .350 .507 .427 .275 .261
FRank:               .493 .388 .333 .493 .378 .262 .239
ListNet:             .360 .357 .317 .360 .360 .256 .223
AdaRank:             .413 .376 .328 .413 .369 .249 .219
SVM-map:             .293 .304 .291 .293 .302 .247 .205
        """,
    ),
    _table(
        "np2003",
        "LETOR 3.0",
        f"{_LIU}, table 11.3",
        "nDCG@1 nDCG@3 nDCG@10 P@1 P@3 P@10 AP",
        """
Regression (linear): .447 .614 .665 .447 .220 .081 .564
Ranking SVM:         .580 .765 .800 .580 .271 .092 .696
RankBoost:           .600 .764 .807 .600 .269 .094 .707
FRank:               .540 .726 .776 .540 .253 .090 .664
ListNet:             .567 .758 .801 .567 .267 .092 .690
AdaRank:             .580 .729 .764 .580 .251 .086 .678
SVM-map:             .560 .767 .798 .560 .269 .089 .687
        """,
    ),
    _table(
        "np2004",
        "LETOR 3.0",
        f"{_LIU}, table 11.4",
        "nDCG@1 nDCG@3 nDCG@10 P@1 P@3 P@10 AP",
        """
Regression (linear): .373 .555 .653 .373 .200 .082 .514
Ranking SVM:         .507 .750 .806 .507 .262 .093 .659
RankBoost:           .427 .627 .691 .427 .231 .088 .564
FRank:               .480 .643 .729 .480 .236 .093 .601
ListNet:             .533 .759 .812 .533 .267 .094 .672
AdaRank:             .480 .698 .749 .480 .244 .088 .622
SVM-map:             .520 .749 .808 .520 .267 .096 .662
        """,
    ),
    _table(
        "hp2003",
        "LETOR 3.0",
        f"{_LIU}, table 11.5",
        "nDCG@1 nDCG@3 nDCG@10 P@1 P@3 P@10 AP",
        """
Regression (linear): .420 .510 .594 .420 .211 .088 .497
Ranking SVM:         .693 .775 .807 .693 .309 .104 .741
RankBoost:           .667 .792 .817 .667 .311 .105 .733
FRank:               .653 .743 .797 .653 .289 .106 .710
ListNet:             .720 .813 .837 .720 .320 .106 .766
AdaRank:             .733 .805 .838 .733 .309 .106 .771
SVM-map:             .713 .779 .799 .713 .309 .100 .742
        """,
    ),
    _table(
        "hp2004",
        "LETOR 3.0",
        f"{_LIU}, table 11.6",
        "nDCG@1 nDCG@3 nDCG@10 P@1 P@3 P@10 AP",
        """
Regression (linear): .387 .575 .646 .387 .213 .080 .526
Ranking SVM:         .573 .715 .768 .573 .267 .096 .668
RankBoost:           .507 .699 .743 .507 .253 .092 .625
FRank:               .600 .729 .761 .600 .262 .089 .682
ListNet:             .600 .721 .784 .600 .271 .098 .690
AdaRank:             .613 .816 .832 .613 .298 .094 .722
SVM-map:             .627 .754 .806 .627 .280 .096 .718
        """,
    ),
    _table(
        "ohsumed",
        "LETOR 3.0",
        f"{_LIU}, table 11.7",
        "nDCG@1 nDCG@3 nDCG@10 P@1 P@3 P@10 AP",
        """
Regression (linear): .446 .443 .411 .597 .577 .466 .422
Ranking SVM:         .496 .421 .414 .597 .543 .486 .433
RankBoost:           .463 .456 .430 .558 .561 .497 .441
FRank:               .530 .481 .443 .643 .593 .501 .444
ListNet:             .533 .473 .441 .652 .602 .497 .446
AdaRank:             .539 .468 .442 .634 .590 .497 .449
SVM-map:             .523 .466 .432 .643 .580 .491 .445
        """,
    ),
    _table(
        "mq2007",
        "LETOR 4.0",
        f"{_LIU}, table 11.9",
        "nDCG@1 nDCG@3 nDCG@10 P@1 P@3 P@10 AP",
        """
Ranking SVM: .410 .406 .444 .475 .432 .383 .464
RankBoost:   .413 .407 .446 .482 .435 .386 .466
ListNet:     .400 .409 .444 .464 .433 .380 .465
AdaRank:     .382 .398 .434 .439 .423 .374 .458
        """,
    ),
    _table(
        "mq2008",
        "LETOR 4.0",
        f"{_LIU}, table 11.10",
        "nDCG@1 nDCG@3 nDCG@10 P@1 P@3 P@10 AP",
        """
Ranking SVM: .363 .429 .228 .427 .390 .249 .470
RankBoost:   .386 .429 .226 .458 .392 .249 .478
ListNet:     .375 .432 .230 .445 .384 .248 .478
AdaRank:     .375 .437 .230 .443 .390 .245 .476
        """,
    ),
    _table(
        "ohsumed-letor2",
        "LETOR 2.0",
        f"{_ZHENG}, table 2",
        "nDCG@1 nDCG@2 nDCG@3 nDCG@4 nDCG@5 P@1 P@2 P@3 P@4 P@5 AP",
        """
RankBoost:    .498 .483 .473 .461 .450 .605 .595 .586 .562 .545 .440
RankSVM:      .495 .476 .465 .459 .458 .634 .619 .592 .579 .577 .447
FRank-c4.2:   .545 .510 .499 .478 .469 .671 .619 .617 .581 .560 .446
ListNet:      .523 .497 .478 .468 .466 .643 .629 .602 .577 .575 .450
AdaRank.MAP:  .542 .496 .480 .471 .455 .661 .605 .583 .567 .537 .442
AdaRank.NDCG: .514 .474 .462 .456 .442 .633 .605 .570 .562 .533 .442
MHR-BC:       .552 .490 .485 .480 .467 .652 .615 .612 .591 .566 .440
QBRank:       .563 .536 .483 .471 .463 .708 .676 .624 .589 .570 .452
IsoRank:      .565 .556 .520 .505 .488 .653 .676 .643 .617 .588 .457
        """,
    ),
    _table(
        "td2003-letor2",
        "LETOR 2.0",
        f"{_ZHENG}, table 3",
        "nDCG@1 nDCG@2 nDCG@3 nDCG@4 nDCG@5 P@1 P@2 P@3 P@4 P@5 AP",
        """
RankBoost:    .260 .280 .270 .272 .279 .260 .270 .240 .230 .220 .212
RankSVM:      .420 .370 .379 .363 .347 .420 .350 .340 .300 .264 .256
FRank-c4.2:   .440 .390 .369 .342 .330 .440 .370 .320 .260 .232 .245
ListNet:      .460 .430 .408 .386 .382 .460 .420 .360 .310 .292 .273
AdaRank.MAP:  .420 .320 .291 .268 .242 .420 .310 .267 .230 .188 .137
AdaRank.NDCG: .520 .410 .374 .347 .326 .520 .400 .347 .305 .268 .185
QBRank:       .540 .460 .418 .384 .360 .540 .460 .393 .330 .284 .231
IsoRank:      .520 .450 .421 .392 .367 .520 .450 .373 .325 .288 .248
        """,
    ),
    _table(
        "td2004-letor2",
        "LETOR 2.0",
        f"{_ZHENG}, table 4",
        "nDCG@1 nDCG@2 nDCG@3 nDCG@4 nDCG@5 P@1 P@2 P@3 P@4 P@5 AP",
        """
RankBoost:    .480 .473 .464 .439 .437 .480 .447 .404 .347 .323 .384
RankSVM:      .440 .433 .409 .406 .393 .440 .407 .351 .327 .291 .350
FRank-c4.2:   .440 .467 .448 .435 .436 .440 .433 .387 .340 .323 .381
ListNet:      .440 .427 .437 .422 .421 .440 .407 .400 .357 .331 .372
AdaRank.MAP:  .413 .393 .402 .387 .393 .413 .353 .342 .300 .293 .331
AdaRank.NDCG: .360 .360 .384 .377 .377 .360 .320 .329 .300 .280 .299
QBRank:       .400 .373 .372 .365 .359 .400 .340 .311 .287 .256 .294
IsoRank:      .453 .440 .425 .407 .396 .453 .413 .360 .317 .283 .336
        """,
    ),
)

#: Precision at the K % of pairs with the largest difference of scores, on the IsoRank paper's search-engine data.
PRECISION_AT_PERCENT = {
    "IsoRank": {20: 0.9852, 40: 0.9224, 60: 0.8519, 80: 0.7927, 100: 0.7413},
    "QBRank": {20: 0.9785, 40: 0.9123, 60: 0.8427, 80: 0.7858, 100: 0.7372},
    "RankSVM": {20: 0.9543, 40: 0.8900, 60: 0.8222, 80: 0.7656, 100: 0.7185},
}

#: What is known about this data, which is not public: numbers of queries and documents, documents by grade.
SEARCH_ENGINE = {
    "queries": 4_372,
    "documents": 115_278,
    "grades": {"perfect": 768, "excellent": 4_288, "good": 30_325, "fair": 42_571, "bad": 37_326},
}

#: Largest change of a test pair's hinge loss when one of 200 training queries is left out, for 30 such queries.
STABILITY = {
    "RankSVM": (
        3.59, 1.14, 0.88, 0.81, 1.84, 1.15, 0.89, 1.30, 0.90, 1.42, 1.38, 1.39, 0.56, 1.43, 1.42,
        1.01, 1.13, 1.34, 1.04, 0.86, 0.43, 0.51, 0.64, 0.92, 0.50, 0.88, 4.53, 0.99, 1.13, 0.62,
    ),
    "IRSVM": (
        0.07, 0.07, 0.06, 0.06, 0.05, 0.24, 0.18, 0.06, 0.09, 0.08, 0.11, 0.15, 0.11, 0.13, 0.14,
        0.11, 0.06, 0.11, 0.08, 0.05, 0.09, 0.20, 0.27, 0.14, 0.18, 0.08, 0.12, 0.09, 0.21, 0.14,
    ),
}  # fmt: skip
