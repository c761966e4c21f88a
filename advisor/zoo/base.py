"""What every architecture offers, whatever its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Required, TypedDict

from advisor.core.errors import InvalidInputError
from advisor.domain import Family, Model
from advisor.zoo.checks import positive_whole

LARGEST_IMAGE_SIDE = 16_384


@dataclass(frozen=True, kw_only=True, slots=True)
class Dataset:
    """A data set that a job uses unless another is given."""

    name: str
    samples: int


class Facts(TypedDict, total=False):
    """What an architecture is called and where it comes from: fields of `Architecture`."""

    name: Required[str]
    title: Required[str]
    published_params: float | None
    source: str
    aliases: tuple[str, ...]
    dataset: Dataset | None
    assumptions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Architecture(ABC):
    """A neural network whose numbers follow from its dimensions.

    Parameters
    ----------
    name : str
        Canonical name: lower case with hyphens.
    title : str
        Name for people.
    family : Family
        What kind of job it makes.
    default_sample_size : int
        Sequence length, image side, … of one sample unless another is asked for.
    largest_sample_size : int, optional
        Where the architecture ends, for example at its learned positions; None: no limit.
    published_params : float, optional
        The published parameter count, to check the computed one against.
    source : str
        Where dimensions and published count come from.
    aliases : tuple of str
        Further names it is known by.
    dataset : Dataset, optional
        The data set it is trained on by default, if there is a usual one.
    usual_batch : int, optional
        Samples per optimizer step where they are not those of its family.
    assumptions : tuple of str
        What had to be assumed to know the dimensions; empty for published architectures.
    """

    name: str
    title: str
    family: Family
    default_sample_size: int
    largest_sample_size: int | None = None
    published_params: float | None = None
    source: str = ""
    aliases: tuple[str, ...] = ()
    dataset: Dataset | None = None
    usual_batch: int | None = None
    assumptions: tuple[str, ...] = ()

    sample_unit: ClassVar[str]
    """What one sample is called, in the singular."""
    size_word: ClassVar[str]
    """What the sample size is called."""
    absurd_size: ClassVar[int] = 10_000_000
    """Beyond it a sample size is a mistake, whatever the architecture."""

    @property
    @abstractmethod
    def params(self) -> int:
        """Trained parameters, computed from the dimensions."""

    @property
    def active_params(self) -> int:
        """Parameters that one token uses; fewer than `params` for a mixture of experts only."""
        return self.params

    @property
    def adapter_dimensions(self) -> int:
        """Inputs plus outputs of all attention and feed-forward linear layers.

        A low-rank adapter of rank r on a layer has r × (inputs + outputs) parameters
        (Hu et al. 2021, arXiv 2106.09685, section 4.1). 0: there is no such layer.
        """
        return 0

    @abstractmethod
    def model(self, sample_size: int | None = None) -> Model:
        """Return the numbers at a sample size (the default one if not given).

        Raises
        ------
        InvalidInputError
            If the architecture cannot take samples of that size.
        """

    def checked_sample_size(self, sample_size: int | None) -> int:
        """Return the sample size to use, after checking that it is possible.

        Raises
        ------
        InvalidInputError
            If it is no positive whole number or beyond what the architecture takes.
        """
        if sample_size is None:
            return self.default_sample_size
        usual = f"{self.title} is usually trained with {self.default_sample_size:,}."
        size = positive_whole(sample_size, self.size_word, self.absurd_size, todo=usual)
        limit = self.largest_sample_size
        if limit is not None and size > limit:
            raise InvalidInputError(
                f"{self.title} takes a {self.size_word} of at most {limit:,}, not {size:,}.",
                where=self.size_word,
                todo=f"Choose {limit:,} or less.",
            )
        return size
